// Text as it is written into a document: what markup would take for its own is escaped.
#pragma once

#include <string>
#include <string_view>

#include "extras/markup/document.h"

namespace dragoman {

/// Signs that HTML has as they are, not as entities.
struct BareSigns {
  bool ampersand = false, greater = false;
};
BareSigns bare_signs(std::string_view html);

/// Where a text is written.
struct WritingPlace {
  std::string_view source;  ///< the bytes of the passage
  BareSigns bare;           ///< in `source`
  std::string_view before;  ///< all that has been written
  char after = 0;           ///< the byte that follows; 0: the passage ends
};

/// "&" and ">" stay bare in HTML where the source has them bare, and they cannot be misread. An
/// attribute gets the quotes that it had, or double ones.
std::string written_text(std::string_view text, Writing writing, const WritingPlace& place);

/// Whether it is Markdown's own text, and no title.
constexpr bool is_markdown_text(Writing writing) {
  return writing == Writing::MarkdownText || writing == Writing::MarkdownCell;
}

/// A string of a PO file, without its quotes.
std::string po_string(std::string_view text);

}  // namespace dragoman
