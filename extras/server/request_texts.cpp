#include "extras/server/request_texts.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace dragoman {

// ---- the lines of a text ------------------------------------------------------------------------

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

// ---- the words of a translation -----------------------------------------------------------------

namespace {

/// The words between white space, as LinePreparer counts them, in code points.
std::vector<TextSpan> spans_of_words(std::string_view text) {
  std::vector<TextSpan> spans;
  std::size_t byte = 0, index = 0;  // after the last word
  for (const ByteRange& word : words_between_spaces(text)) {
    const std::size_t begin = index + count_code_points(text.substr(byte, word.begin - byte));
    index = begin + count_code_points(word.of(text));
    byte = word.end;
    spans.push_back({.begin = begin, .end = index});
  }
  return spans;
}

TextSpan most_attended(const std::vector<float>& attention, const std::vector<TextSpan>& words) {
  if (attention.empty() || attention.size() != words.size()) return {};
  const auto most = std::ranges::max_element(attention);
  return *most > 0 ? words[static_cast<std::size_t>(most - attention.begin())] : TextSpan();
}

}  // namespace

std::vector<ReportedWord> report_words(std::string_view source, const TranslatedText& translation) {
  const std::vector<TextSpan> source_words = spans_of_words(source);
  const std::string_view text = translation.text;
  std::vector<ReportedWord> reported;
  std::size_t offset = 0, index = 0;  // after the last word: in bytes, in code points
  for (const TranslatedWord& word : translation.words) {
    const std::size_t at = text.find(word.text, offset);
    if (at == std::string_view::npos) continue;
    const std::size_t begin = index + count_code_points(text.substr(offset, at - offset));
    index = begin + count_code_points(word.text);
    offset = at + word.text.size();
    reported.push_back({.target = {.begin = begin, .end = index},
                        .probability = std::exp(word.sum),
                        .source = most_attended(word.attention, source_words)});
  }
  return reported;
}

std::vector<TranslatedWord> through_pivot(const std::vector<TranslatedWord>& first,
                                          std::vector<TranslatedWord> second) {
  for (TranslatedWord& word : second) {
    const std::vector<float> between = std::move(word.attention);
    word.attention.clear();
    if (between.size() != first.size() || first.empty()) continue;
    word.attention.resize(first.front().attention.size());
    // Fewer than a hundred are left: the work does not grow with the cube of a line's words.
    constexpr float kLeastWeight = 0.01F;
    for (std::size_t pivot = 0; pivot < first.size(); ++pivot)
      if (between[pivot] >= kLeastWeight)
        for (std::size_t s = 0; s < first[pivot].attention.size(); ++s)
          word.attention[s] += between[pivot] * first[pivot].attention[s];
  }
  return second;
}

std::int64_t count_characters(std::string_view text) {
  return static_cast<std::int64_t>(count_code_points(text));
}

std::int64_t count_characters(const std::vector<std::string>& texts) {
  std::int64_t sum = 0;
  for (const std::string& text : texts) sum += count_characters(text);
  return sum;
}

}  // namespace dragoman
