#include "app/commands/translation_format.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"

namespace dragoman {

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6f", value);
  return text;
}

template <class Items, class Text>
std::string joined(const Items& items, std::string_view between, Text&& text) {
  std::string all;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) all += between;
    all += text(items[i]);
  }
  return all;
}

std::string hard_text(const std::vector<TranslatedWord>& words) {
  return joined(hard_alignment(words), " ",
                [](const auto& link) { return join_text(link.first, '-', link.second); });
}

std::string soft_text(const std::vector<TranslatedWord>& words) {
  return joined(words, " ", [](const TranslatedWord& word) {
    return joined(word.attention, ",", [](float weight) {
      char text[16];
      std::snprintf(text, sizeof text, "%.4f", static_cast<double>(weight));
      return std::string(text);
    });
  });
}

std::string alignment_text(const std::vector<TranslatedWord>& words, AlignmentFormat format) {
  return format == AlignmentFormat::Hard ? hard_text(words) : soft_text(words);
}

std::string plain_line(const Translation& translation, const TranslatedText& text,
                       const TranslationFormat& format) {
  std::string line;
  if (format.scores || format.all) line = join_text(translation.line, " ||| ");
  line += text.text;
  if (format.word_scores)
    line += " ||| WordScores= " +
            joined(text.words, " ", [](const TranslatedWord& word) { return number(word.sum); });
  if (format.scores || format.all)
    line += " ||| F0= " + number(text.sum) + " ||| " + number(text.score);
  if (format.alignment != AlignmentFormat::None)
    line += " ||| " + alignment_text(text.words, format.alignment);
  return line;
}

}  // namespace

std::vector<std::pair<std::int64_t, std::int64_t>> hard_alignment(
    const std::vector<TranslatedWord>& words) {
  std::vector<std::pair<std::int64_t, std::int64_t>> links;
  for (std::size_t target = 0; target < words.size(); ++target)
    if (const std::vector<float>& attention = words[target].attention; !attention.empty())
      links.emplace_back(std::ranges::max_element(attention) - attention.begin(), target);
  return links;
}

std::vector<std::string> TranslationFormat::lines(const Translation& translation) const {
  std::vector<std::string> all_lines;
  for (const TranslatedText& text : translation.n_best) {
    all_lines.push_back(plain_line(translation, text, *this));
    if (!all) break;
  }
  return all_lines;
}

}  // namespace dragoman
