#include "report/html.h"

#include "base/utf8.h"
#include "report/page_files.h"

namespace dragoman {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : replace_invalid_utf8(text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string to_html(const HtmlPage& page) {
  return filled_page_file(
      "page.html",
      {{"title", escaped(page.title)},
       {"style", page.style},
       {"body", page.body},
       {"script", page.script.empty() ? "" : "<script>\n" + page.script + "</script>\n"}});
}

}  // namespace dragoman
