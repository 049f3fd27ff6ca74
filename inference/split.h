// A line with several sentences, or a long line, is translated in parts. It is split at the ends of
// sentences. A sentence that is still too long is split at clauses, or otherwise between words, or
// otherwise between characters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The lines that are split at the ends of their sentences.
enum class SentenceCuts { InAllLines, InLongLines };

/// A stretch of a line. All texts and separators, in order, make up the line.
struct LinePart {
  std::string_view text;             ///< does not begin or end with white space
  std::string_view separator = {};   ///< the white space after it
  std::vector<TokenId> tokens = {};  ///< of the text
  bool ends_sentence = false;        ///< and another sentence follows in the line
};

/// The pieces that the tokenizer makes of a text.
using Encode = std::function<std::vector<TokenId>(std::string_view)>;

/// Splits `line` (valid UTF-8, stripped of white space) into parts of at most `most` pieces each: a
/// part for each sentence, and shorter ones if a sentence is too long. A single character stays
/// whole, however many pieces it has. No sentence ends within a stretch of `whole`, the stretches
/// of terms; they are in order.
std::vector<LinePart> split_line(std::string_view line, SentenceCuts cuts, std::int64_t most,
                                 const Encode& encode, const std::vector<ByteRange>& whole = {});

/// Appends the next part's `translation` to `joined`, the translations so far. `before` is the
/// source of the part before. The white space between the two parts is kept; characters that would
/// break the line become blanks. A blank is added between sentences without white space, and
/// between other parts of Chinese or Japanese, that are translated into another language.
/// Translations into Chinese and Japanese get white space only from Chinese and Japanese sources.
void append_part(std::string& joined, const LinePart& before, std::string_view translation);

}  // namespace dragoman
