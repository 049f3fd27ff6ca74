#include "base/html_text.h"

#include <algorithm>
#include <stdexcept>

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

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string result;
  for (std::size_t at; (at = text.find("{{")) != std::string_view::npos;) {
    const std::size_t end = text.find("}}", at);
    const std::string_view name = text.substr(at + 2, end - at - 2);
    const auto value =
        std::ranges::find_if(values, [&](const auto& entry) { return entry.first == name; });
    if (end == std::string_view::npos || value == values.end())
      throw std::logic_error(join_text("a template has no value for ", name));
    result.append(text.substr(0, at)).append(value->second);
    text.remove_prefix(end + 2);
  }
  return result.append(text);
}

}  // namespace dragoman
