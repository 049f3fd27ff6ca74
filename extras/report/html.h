// Functions for a self-contained HTML page. It fetches nothing, and no text in it is read as HTML.
#pragma once

#include <string>
#include <string_view>

#include "base/html_text.h"

namespace dragoman {

struct HtmlPage {
  std::string title;       ///< plain text
  std::string style;       ///< CSS
  std::string body;        ///< HTML
  std::string script;      ///< JavaScript, run behind the body; may be empty
  std::string nonce = {};  ///< of the script, where a server's Content-Security-Policy names one
};
std::string to_html(const HtmlPage& page);

/// JSON with escapes, so that nothing in it ends the <script> that it stands in.
std::string json_in_script(std::string_view json);

}  // namespace dragoman
