#include "extras/server/word_report.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "extras/markup/aligned_text.h"

namespace dragoman {

namespace {

/// The words between white space, as LinePreparer counts them, in code points.
std::vector<TextSpan> spans_of_words(std::string_view text) {
  std::vector<TextSpan> spans;
  std::size_t byte = 0, index = 0;  // behind the last word
  for (const ByteRange& word : words_of(text)) {
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
  std::size_t offset = 0, index = 0;  // behind the last word: in bytes, in code points
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

}  // namespace dragoman
