// A text is a paragraph or several: its lines are translated, and the rest stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

/// The meaning of line ends within a text.
enum class LineBreaks {
  Kept,   ///< each line is translated by itself
  Blanks  ///< they are white space like any other
};

struct TextLayout {
  std::vector<std::string> lines;  ///< without white space around them, none empty
  /// Line ends (also VT, FF, U+0085, U+2028 and U+2029) and white space: in front of the first
  /// line, where a byte order mark may stand too, between lines, behind the last one; one more than
  /// there are lines.
  std::vector<std::string> around;
};

/// `text` is valid UTF-8. With LineBreaks::Kept, around and lines in turn are the text.
TextLayout take_apart(std::string_view text, LineBreaks breaks);

/// The text with other lines in the places of its own.
std::string put_together(const TextLayout& layout, const std::vector<std::string>& lines);

}  // namespace dragoman
