// Long lines are translated in parts: split at sentence ends, then at clauses, then between words,
// and where there is no space, between characters.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// A stretch of a line. All texts and separators in their order are the line.
struct LinePart {
  std::string_view text;       ///< does not begin or end with white space
  std::string_view separator;  ///< the white space behind it
};

/// How many pieces the tokenizer makes of a text.
using CountPieces = std::function<std::int64_t(std::string_view)>;

/// Splits `line` (valid UTF-8, stripped of white space) into parts of at most `most` pieces each: a
/// part for each sentence, and shorter ones where a sentence is too long. A single character stays
/// whole, however many pieces it has.
std::vector<LinePart> split_line(std::string_view line, std::int64_t most,
                                 const CountPieces& count_pieces);

/// Puts the next part's `translation` behind `joined`, the translations so far; `before` is the
/// source of the part before. Blanks and tabs between the parts are kept; Chinese and Japanese are
/// joined without a space, and get one when translated into a language that has them.
void append_part(std::string& joined, const LinePart& before, std::string_view translation);

}  // namespace dragoman
