#include "extras/report/html.h"

#include "extras/report/page_files.h"

namespace dragoman {

namespace {

std::string script_element(const HtmlPage& page) {
  const std::string nonce = page.nonce.empty() ? "" : " nonce=\"" + escaped(page.nonce) + '"';
  return "<script" + nonce + ">\n" + page.script + "</script>\n";
}

}  // namespace

std::string to_html(const HtmlPage& page) {
  return filled_page_file("page.html",
                          {{"title", escaped(page.title)},
                           {"style", page.style},
                           {"body", page.body},
                           {"script", page.script.empty() ? "" : script_element(page)}});
}

std::string json_in_script(std::string_view json) {
  std::string text;
  for (const char c : json) c == '<' ? text += "\\u003c" : text += c;
  return text;
}

}  // namespace dragoman
