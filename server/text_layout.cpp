#include "server/text_layout.h"

#include <algorithm>

#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr std::string_view kLineEnds("\n\r\0", 3);

}  // namespace

TextLayout take_apart(std::string_view text, LineBreaks breaks) {
  TextLayout layout{.lines = {}, .around = {""}};
  while (!text.empty()) {
    const bool is_whole = breaks == LineBreaks::Blanks;
    const std::string_view line = is_whole ? text : text.substr(0, text.find_first_of(kLineEnds));
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
    layout.around.back() += text.front();
    text.remove_prefix(1);
  }
  if (breaks == LineBreaks::Blanks)
    for (std::string& line : layout.lines)
      std::ranges::replace_if(
          line, [](char c) { return kLineEnds.find(c) != std::string_view::npos; }, ' ');
  return layout;
}

std::string put_together(const TextLayout& layout, const std::vector<std::string>& lines) {
  std::string text = layout.around.front();
  for (std::size_t i = 0; i < lines.size(); ++i) text += lines[i] + layout.around[i + 1];
  return text;
}

}  // namespace dragoman
