#include "report/html.h"

#include "base/error.h"
#include "base/utf8.h"

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
  // The policy keeps a browser from fetching anything, whatever a text in the page may say.
  return join_text(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      escaped(page.title), "</title>\n<style>\n", page.style, "</style>\n</head>\n<body>\n",
      page.body, page.script.empty() ? "" : "<script>\n" + page.script + "</script>\n",
      "</body>\n</html>\n");
}

}  // namespace dragoman
