// The pieces of a self-contained HTML page: it fetches nothing, and whatever text it shows is text.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// For text and for attributes in double quotes; invalid UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

struct HtmlPage {
  std::string title;   ///< plain text
  std::string style;   ///< CSS
  std::string body;    ///< HTML
  std::string script;  ///< JavaScript, run behind the body; may be empty
};
std::string to_html(const HtmlPage& page);

}  // namespace dragoman
