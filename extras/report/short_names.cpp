#include "extras/report/short_names.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace dragoman {

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

/// The same from the end, down to a border behind `front`.
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
