#include "extras/reranking/translation_list.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "evaluation/chrf.h"

namespace dragoman {

namespace {

constexpr std::string_view kSeparator = " ||| ";

/// exp((score - the greatest) / temperature) of each translation.
std::vector<double> weights_of(const TranslationList& translations, double temperature) {
  const double greatest =
      std::ranges::max_element(translations, {}, &ListedTranslation::score)->score;
  std::vector<double> weights;
  for (const ListedTranslation& translation : translations)
    weights.push_back(std::exp((translation.score - greatest) / temperature));
  return weights;
}

}  // namespace

std::optional<ListedTranslation> read_listed(std::string_view line) {
  const std::size_t first = line.find(kSeparator);
  const std::size_t last = line.rfind(kSeparator);
  if (first == line.npos || first == last) return std::nullopt;
  const std::string_view number = line.substr(0, first);
  std::string_view text = line.substr(first + kSeparator.size());
  std::string_view score = line.substr(last + kSeparator.size());
  // A text may have the separator in it, so the column after it is found from the end.
  constexpr std::string_view kProbability = " ||| F0= ", kWords = " ||| WordScores= ";
  if (const std::size_t column = text.rfind(kProbability); column != text.npos) {
    score = text.substr(column + kSeparator.size());
    score.remove_prefix(std::min(score.size(), score.find(kSeparator)));
    score.remove_prefix(std::min(score.size(), kSeparator.size()));
    score = score.substr(0, score.find(' '));
    text = text.substr(0, column);
    text = text.substr(0, text.rfind(kWords));
  } else {
    text = text.substr(0, text.find(kSeparator));
  }
  const auto index = number_from<std::int64_t>(number);
  const auto value = number_from<double>(score);
  if (!index || !value || !std::isfinite(*value)) return std::nullopt;
  return ListedTranslation{*index, std::string(text), *value};
}

std::vector<std::size_t> least_risks(std::span<const TranslationList> lines, double temperature) {
  std::vector<std::string> hypotheses, references;
  for (const TranslationList& translations : lines)
    for (const ListedTranslation& hypothesis : translations)
      for (const ListedTranslation& reference : translations) {
        hypotheses.push_back(hypothesis.text);
        references.push_back(reference.text);
      }
  const ChrfConfig chrf;
  const LineStatistics statistics = chrf_statistics(hypotheses, {std::move(references)}, chrf);
  std::vector<std::size_t> chosen;
  std::size_t pair = 0;
  for (const TranslationList& translations : lines) {
    const std::vector<double> weights = weights_of(translations, temperature);
    std::vector<double> expected(translations.size());
    for (double& score : expected)
      for (const double weight : weights)
        score += weight * chrf_of_statistics(statistics.line(pair++), chrf);
    chosen.push_back(
        static_cast<std::size_t>(std::ranges::max_element(expected) - expected.begin()));
  }
  return chosen;
}

}  // namespace dragoman
