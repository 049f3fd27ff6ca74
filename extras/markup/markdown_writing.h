// Text as it is written into Markdown, and marks of emphasis where they are read as such.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/place_tags.h"
#include "extras/markup/writing.h"

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

/// Whether two tags of a passage (their numbers) would be read as one where the second now touches
/// the first: code behind code, or emphasis behind emphasis of the same sign. A blank divides them.
bool are_read_as_one(const MarkupDocument& document, const Passage& passage, std::size_t first,
                     std::size_t second);

}  // namespace dragoman
