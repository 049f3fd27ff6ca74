// Functions for a self-contained HTML page. It fetches nothing, and no text in it is read as HTML.
#pragma once

#include <string>
#include <string_view>

namespace dragoman {

/// Escapes text for HTML and for attributes in double quotes. Invalid UTF-8 becomes U+FFFD.
std::string escaped(std::string_view text);

struct HtmlPage {
  std::string title;   ///< plain text
  std::string style;   ///< CSS
  std::string body;    ///< HTML
  std::string script;  ///< JavaScript, run behind the body; may be empty
};
std::string to_html(const HtmlPage& page);

}  // namespace dragoman
