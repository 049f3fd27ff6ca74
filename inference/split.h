// Lines are translated in parts where they hold several sentences, or are long: split at sentence
// ends, what is still long at clauses, then between words, and where there is no space, between
// characters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace dragoman {

/// Which lines are split at the ends of their sentences.
enum class SentenceCuts { InAllLines, InLongLines };

/// A stretch of a line. All texts and separators in their order are the line.
struct LinePart {
  std::string_view text;             ///< does not begin or end with white space
  std::string_view separator;        ///< the white space behind it
  std::vector<TokenId> tokens = {};  ///< of the text
};

/// The pieces that the tokenizer makes of a text.
using Encode = std::function<std::vector<TokenId>(std::string_view)>;

/// Splits `line` (valid UTF-8, stripped of white space) into parts of at most `most` pieces each: a
/// part for each sentence, and shorter ones where a sentence is too long. A single character stays
/// whole, however many pieces it has.
std::vector<LinePart> split_line(std::string_view line, SentenceCuts cuts, std::int64_t most,
                                 const Encode& encode);

/// Puts the next part's `translation` behind `joined`, the translations so far; `before` is the
/// source of the part before. White space between the parts is kept, but what would break the line
/// is a blank; Chinese and Japanese get a blank where they are translated into a language that has
/// them, and no white space comes into them that their source does not have.
void append_part(std::string& joined, const LinePart& before, std::string_view translation);

}  // namespace dragoman
