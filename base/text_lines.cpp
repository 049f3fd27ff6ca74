#include "base/text_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/amounts.h"
#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/read_all.h"
#include "base/utf8.h"

namespace dragoman {

std::vector<std::string> read_lines(const std::string& path, ByteOrderMark mark) {
  const bool is_standard = path == "-";
  const std::string name = is_standard ? "standard input" : path;
  const std::string text =
      plain_text(is_standard ? read_all(STDIN_FILENO, name) : read_file(path), name);
  std::vector<std::string> lines;
  const bool skips = mark == ByteOrderMark::LeftOut && text.starts_with(kByteOrderMark);
  std::size_t begin = skips ? kByteOrderMark.size() : 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    auto line = std::string_view(text).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (find_invalid_utf8(line) != std::string_view::npos)
      throw Error(name, ":", lines.size() + 1, ": invalid UTF-8");
    lines.emplace_back(line);
    begin = end + 1;
  }
  return lines;
}

void require_same_lines(const std::string& first, std::size_t first_lines,
                        const std::string& second, std::size_t second_lines) {
  if (first_lines == second_lines) return;
  throw Error(first, " has ", counted(static_cast<std::int64_t>(first_lines), "line"), " but ",
              second, " has ", counted(static_cast<std::int64_t>(second_lines), "line"),
              "; the files must match line for line: paste ", first, " ", second,
              " | less shows where they part");
}

}  // namespace dragoman
