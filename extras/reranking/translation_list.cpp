#include "extras/reranking/translation_list.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "evaluation/chrf.h"

namespace dragoman {

namespace {

constexpr std::string_view kSeparator = " ||| ";

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// exp((log-probability - the greatest) / temperature) of each candidate.
std::vector<double> weights_of(const TranslationList& candidates, double temperature) {
  const double greatest =
      std::ranges::max_element(candidates, {}, &ListedTranslation::log_probability)
          ->log_probability;
  std::vector<double> weights;
  for (const ListedTranslation& candidate : candidates)
    weights.push_back(std::exp((candidate.log_probability - greatest) / temperature));
  return weights;
}

}  // namespace

std::optional<ListedTranslation> read_listed(std::string_view line) {
  const std::size_t first = line.find(kSeparator);
  const std::size_t last = line.rfind(kSeparator);
  if (first == line.npos || first == last) return std::nullopt;
  const std::string_view number = line.substr(0, first);
  std::string_view rest = line.substr(first + kSeparator.size());
  std::string_view probability = line.substr(last + kSeparator.size());
  // A text may have the separator in it, so the column after it is found from the end.
  constexpr std::string_view kProbability = " ||| F0= ", kWords = " ||| WordScores= ";
  if (const std::size_t column = rest.rfind(kProbability); column != rest.npos) {
    probability = rest.substr(column + kProbability.size());
    probability = probability.substr(0, probability.find(' '));
    rest = rest.substr(0, column);
    rest = rest.substr(0, rest.rfind(kWords));
  } else {
    rest = rest.substr(0, rest.find(kSeparator));
  }
  const auto index = number_in<std::int64_t>(number);
  const auto log_probability = number_in<double>(probability);
  if (!index || !log_probability || !std::isfinite(*log_probability)) return std::nullopt;
  return ListedTranslation{*index, std::string(rest), *log_probability};
}

std::vector<std::size_t> least_risks(std::span<const TranslationList> lines, double temperature) {
  std::vector<std::string> hypotheses, references;
  for (const TranslationList& candidates : lines)
    for (const ListedTranslation& hypothesis : candidates)
      for (const ListedTranslation& reference : candidates) {
        hypotheses.push_back(hypothesis.text);
        references.push_back(reference.text);
      }
  const ChrfConfig chrf;
  const LineStatistics statistics = chrf_statistics(hypotheses, {std::move(references)}, chrf);
  std::vector<std::size_t> chosen;
  std::size_t pair = 0;
  for (const TranslationList& candidates : lines) {
    const std::vector<double> weights = weights_of(candidates, temperature);
    std::vector<double> expected(candidates.size());
    for (double& score : expected)
      for (const double weight : weights)
        score += weight * chrf_of_statistics(statistics.line(pair++), chrf);
    chosen.push_back(
        static_cast<std::size_t>(std::ranges::max_element(expected) - expected.begin()));
  }
  return chosen;
}

}  // namespace dragoman
