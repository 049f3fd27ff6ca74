#include "extras/server/text_layout.h"

#include "base/utf8.h"

namespace dragoman {

namespace {

/// Unicode's line ends, the separators at which Python's str.splitlines() splits, and NUL.
bool ends_line(char32_t c) {
  return c == 0 || (c >= '\n' && c <= '\r') || (c >= 0x1C && c <= 0x1F) || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

/// Bytes of the first line, without its end.
std::size_t line_size(std::string_view text) {
  for (std::size_t next = 0; next < text.size();) {
    const std::size_t begin = next;
    if (ends_line(next_code_point(text, next))) return begin;
  }
  return text.size();
}

/// Each line end is one blank: places in the text count characters.
std::string with_blanks(std::string_view text) {
  std::string line;
  for (std::size_t next = 0; next < text.size();) {
    const char32_t c = next_code_point(text, next);
    append_utf8(line, ends_line(c) ? U' ' : c);
  }
  return line;
}

}  // namespace

TextLayout take_apart(std::string_view text, LineBreaks breaks) {
  TextLayout layout{.lines = {}, .around = {""}};
  if (text.starts_with(kByteOrderMark)) {
    layout.around.back() += kByteOrderMark;
    text.remove_prefix(kByteOrderMark.size());
  }
  while (!text.empty()) {
    const bool is_whole = breaks == LineBreaks::Blanks;
    const std::string_view line = is_whole ? text : text.substr(0, line_size(text));
    const std::string_view core = strip(line);
    const auto begin = static_cast<std::size_t>(core.data() - line.data());
    if (core.empty()) {
      layout.around.back() += line;
    } else {
      layout.around.back() += line.substr(0, begin);
      layout.lines.emplace_back(core);
      layout.around.emplace_back(line.substr(begin + core.size()));
    }
    text.remove_prefix(line.size());
    if (text.empty()) break;
    std::size_t end = 0;
    next_code_point(text, end);
    layout.around.back() += text.substr(0, end);
    text.remove_prefix(end);
  }
  if (breaks == LineBreaks::Blanks)
    for (std::string& line : layout.lines) line = with_blanks(line);
  return layout;
}

std::string put_together(const TextLayout& layout, const std::vector<std::string>& lines) {
  std::string text = layout.around.front();
  for (std::size_t i = 0; i < lines.size(); ++i) text += lines[i] + layout.around[i + 1];
  return text;
}

}  // namespace dragoman
