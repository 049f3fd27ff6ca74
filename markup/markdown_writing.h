// Text as it is written into Markdown, and marks of emphasis where they are read as such.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "markup/document.h"
#include "markup/place_tags.h"
#include "markup/writing.h"

namespace dragoman {

/// The characters that a backslash can stand before: ASCII's punctuation (CommonMark 0.30, section
/// 2.4).
inline constexpr std::string_view kMarkdownSigns = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Signs that Markdown would take for its own get a backslash.
std::string markdown_text(std::string_view text, Writing writing, const WritingPlace& place);

/// A title with the quotes of `source`.
std::string markdown_title(std::string_view text, std::string_view source);

/// Emphasis begins at a word and ends at one (CommonMark 0.30, section 6.2): a mark moves over
/// signs, or, if it is an underscore, to the end of its word. Emphasis without text is left out, as
/// its marks would be read as text; so is a line end without text before or behind it.
std::vector<PlacedTag> readable_marks(const MarkupDocument& document, const Passage& passage,
                                      std::string_view text, const std::vector<PlacedTag>& tags);

}  // namespace dragoman
