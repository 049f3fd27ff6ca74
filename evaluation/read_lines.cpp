#include "evaluation/read_lines.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "base/compressed_text.h"
#include "base/error.h"
#include "base/files.h"
#include "base/utf8.h"
#include "evaluation/words.h"

namespace dragoman {

std::vector<std::string> read_lines(const std::string& path, ByteOrderMark mark) {
  std::string text;
  if (path == "-")
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  else
    text = read_file(path);
  text = plain_text(std::move(text), path == "-" ? "standard input" : path);
  std::vector<std::string> lines;
  const bool skips = mark == ByteOrderMark::LeftOut && text.starts_with(kByteOrderMark);
  std::size_t begin = skips ? kByteOrderMark.size() : 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const auto line = std::string_view(text).substr(begin, end - begin);
    if (find_invalid_utf8(line) != std::string_view::npos)
      throw Error(path == "-" ? "standard input" : path, ":", lines.size() + 1,
                  ": invalid UTF-8; only UTF-8 text can be scored");
    lines.emplace_back(strip_right(line));
    begin = end + 1;
  }
  return lines;
}

}  // namespace dragoman
