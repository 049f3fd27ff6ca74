#include "extras/report/html_page.h"

#include <algorithm>
#include <array>
#include <cctype>

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

std::string filled_page_file(std::string_view file,
                             const std::vector<std::pair<std::string_view, std::string>>& values) {
  return filled(page_file(file), values);
}

namespace {

struct RunColor {
  std::string_view light, dark;
};

/// Blue, vermilion, green, purple, ochre, grey, after Okabe and Ito's palette, which colour-blind
/// readers can tell apart too. The page writes the names of the runs in these colours, so each one
/// has the contrast that text needs against its background: 4.5 to 1.
constexpr std::array kColors = {RunColor{"#0072b2", "#56b4e9"}, RunColor{"#c44600", "#ff8a4c"},
                                RunColor{"#008059", "#35c79a"}, RunColor{"#a8478c", "#e78fcb"},
                                RunColor{"#8c6900", "#e8c547"}, RunColor{"#4f5965", "#c3cad3"}};
/// The dashes of further curves when the colours are used up.
constexpr std::array<std::string_view, 3> kDashes = {"none", "7 3", "2 3"};

std::string run_rules(std::size_t run) {
  const auto& [light, dark] = kColors[run % kColors.size()];
  const std::string_view dash = kDashes[run / kColors.size() % kDashes.size()];
  return filled_page_file("run.css", {{"run", std::to_string(run)},
                                      {"light", std::string(light)},
                                      {"dark", std::string(dark)},
                                      {"dash", std::string(dash)}});
}

}  // namespace

std::string training_style(std::size_t runs, const std::vector<XAxis>& axes) {
  std::string css(page_file("style.css"));
  for (const XAxis& axis : axes)
    css += filled_page_file("axis.css", {{"axis", std::string(axis.name)}});
  for (std::size_t run = 0; run < runs; ++run) css += run_rules(run);
  return css;
}

namespace {

/// Whether a name may be cut at this byte. A full stop between digits is a decimal point.
bool is_border(std::string_view name, std::size_t at) {
  if (name[at] == '/') return true;
  const auto is_digit = [&](std::size_t i) {
    return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])) != 0;
  };
  return name[at] == '.' && at > 0 && !(is_digit(at - 1) && is_digit(at + 1));
}

/// The number of bytes up to the last border in the common beginning of all names.
std::size_t common_front(const std::vector<std::string>& names) {
  const std::string& first = names.front();
  std::size_t front = 0;
  for (std::size_t at = 0; at < first.size(); ++at) {
    const bool same = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return at < name.size() && name[at] == first[at] &&
             is_border(name, at) == is_border(first, at);
    });
    if (!same) break;
    if (is_border(first, at)) front = at + 1;
  }
  return front;
}

/// The same from the end, down to a border after `front`.
std::size_t common_back(const std::vector<std::string>& names, std::size_t front) {
  const std::string& first = names.front();
  std::size_t back = 0;
  for (std::size_t length = 1; length < first.size() - front; ++length) {
    const bool same = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return length < name.size() - front &&
             name[name.size() - length] == first[first.size() - length];
    });
    if (!same) break;
    const bool all_borders = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return is_border(name, name.size() - length);
    });
    if (all_borders) back = length;
  }
  return back;
}

std::string file_name_of(const std::string& name) {
  const std::size_t end = name.find_last_not_of('/');
  if (end == std::string::npos) return name;
  const std::size_t slash = name.rfind('/', end);
  const std::size_t begin = slash == std::string::npos ? 0 : slash + 1;
  const std::size_t stop = name.rfind('.', end);
  const bool has_extension = stop != std::string::npos && stop > begin && is_border(name, stop);
  return name.substr(begin, (has_extension ? stop : end + 1) - begin);
}

}  // namespace

std::vector<std::string> short_names(const std::vector<std::string>& names) {
  if (names.size() == 1) return {file_name_of(names.front())};
  const std::size_t front = common_front(names);
  const bool is_one_empty =
      std::any_of(names.begin(), names.end(),
                  [front](const std::string& name) { return name.size() <= front; });
  if (is_one_empty) return names;
  const std::size_t back = common_back(names, front);
  std::vector<std::string> shortened;
  for (const std::string& name : names)
    shortened.push_back(name.substr(front, name.size() - front - back));
  return shortened;
}

}  // namespace dragoman
