// Text as it is written into a document: signs that the markup would read as its own are escaped,
// and Markdown's marks of emphasis stand at places at which they are read as marks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "extras/markup/document.h"
#include "extras/markup/place_tags.h"

namespace dragoman {

/// Signs that HTML has as they are, not as entities.
struct BareSigns {
  bool ampersand = false, greater = false;
};
BareSigns bare_signs(std::string_view html);

/// The place at which a text is written.
struct WritingPlace {
  std::string_view source;  ///< the bytes of the passage
  BareSigns bare;           ///< in `source`
  std::string_view before;  ///< all that has been written
  char after = 0;           ///< the byte that follows; 0: the passage ends
};

/// "&" and ">" stay bare in HTML if the source has them bare, and they cannot be misread. An
/// attribute gets the quotes that it had, or double ones.
std::string written_text(std::string_view text, Writing writing, const WritingPlace& place);

/// A string of a PO file, without its quotes.
std::string po_string(std::string_view text);

/// Whether it is the text of a subtitle.
constexpr bool is_caption(Writing writing) {
  return writing == Writing::SrtText || writing == Writing::VttText;
}

// ---- Markdown -----------------------------------------------------------------------------------

/// The characters that a backslash can stand before: ASCII's punctuation (CommonMark 0.30, section
/// 2.4).
inline constexpr std::string_view kMarkdownSigns = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Whether it is Markdown's own text, and no title.
constexpr bool is_markdown_text(Writing writing) {
  return writing == Writing::MarkdownText || writing == Writing::MarkdownCell;
}

/// Emphasis begins at a word and ends at one (CommonMark 0.30, section 6.2): a mark moves over
/// signs, or, if it is an underscore, to the end of its word. Emphasis without text is left out, as
/// its marks would be read as text. A line end without text before or after it is left out, too.
std::vector<PlacedTag> readable_marks(const MarkupDocument& document, const Passage& passage,
                                      std::string_view text, const std::vector<PlacedTag>& tags);

/// Whether a tag is a link without brackets (https://a.b, me@a.org). Such a link can only begin
/// after certain signs, and it ends at a blank. The writer adds a blank if the link may not follow
/// `before`, or if a parser would read `after` as a part of the link.
bool is_bare_link(std::string_view tag);
bool may_precede_link(std::string_view before, std::string_view link);
bool continues_link(std::string_view after, std::string_view link);

/// Whether two tags of a passage (their numbers) would be read as one if the second now touches
/// the first: code after code, emphasis after emphasis of the same sign, or any after a bare link.
/// A blank divides them.
bool are_read_as_one(const MarkupDocument& document, const Passage& passage, std::size_t first,
                     std::size_t second);

}  // namespace dragoman
