#include "report/html.h"

#include "report/page_files.h"

namespace dragoman {

std::string to_html(const HtmlPage& page) {
  return filled_page_file(
      "page.html",
      {{"title", escaped(page.title)},
       {"style", page.style},
       {"body", page.body},
       {"script", page.script.empty() ? "" : "<script>\n" + page.script + "</script>\n"}});
}

std::string json_in_script(std::string_view json) {
  std::string text;
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace dragoman
