#include "report/page_files.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"

namespace dragoman {

std::string filled_page_file(std::string_view file,
                             const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string_view rest = page_file(file);
  std::string text;
  for (std::size_t at; (at = rest.find("{{")) != std::string_view::npos;) {
    const std::size_t end = rest.find("}}", at);
    const std::string_view name = rest.substr(at + 2, end - at - 2);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& entry) { return entry.first == name; });
    if (end == std::string_view::npos || value == values.end())
      throw std::logic_error(join_text("report/page/", file, ": no value for ", name));
    text.append(rest.substr(0, at)).append(value->second);
    rest.remove_prefix(end + 2);
  }
  return text.append(rest);
}

}  // namespace dragoman
