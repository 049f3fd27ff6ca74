#include "extras/reranking/translation_list.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/bytes.h"
#include "evaluation/chrf.h"
#include "evaluation/evaluate_config.h"

namespace dragoman {

namespace {

constexpr std::string_view kSeparator = " ||| ";

/// exp((score - the greatest) / temperature) of each translation, with the scores of both models.
std::vector<double> weights_of(const TranslationList& translations, const RiskConfig& config) {
  std::vector<double> weights;
  for (const ListedTranslation& translation : translations)
    weights.push_back(translation.score + config.reverse_weight * translation.reverse);
  const double greatest = std::ranges::max(weights);
  for (double& weight : weights) weight = std::exp((weight - greatest) / config.temperature);
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

std::vector<Likeness> likeness_of(std::span<const TranslationList> lines) {
  std::vector<std::string> hypotheses, references;
  for (const TranslationList& translations : lines)
    for (const ListedTranslation& hypothesis : translations)
      for (const ListedTranslation& reference : translations) {
        hypotheses.push_back(hypothesis.text);
        references.push_back(reference.text);
      }
  const ChrfConfig chrf;
  const LineStatistics statistics = chrf_statistics(hypotheses, {std::move(references)}, chrf);
  std::vector<Likeness> likeness;
  std::size_t pair = 0;
  for (const TranslationList& translations : lines) {
    Likeness& of_line = likeness.emplace_back(translations.size() * translations.size());
    for (double& value : of_line) value = chrf_of_statistics(statistics.line(pair++), chrf);
  }
  return likeness;
}

std::size_t least_risk(const TranslationList& translations, const Likeness& likeness,
                       const RiskConfig& config) {
  const std::vector<double> weights = weights_of(translations, config);
  std::vector<double> expected(translations.size());
  auto value = likeness.begin();
  for (double& score : expected)
    for (const double weight : weights) score += weight * *value++;
  return static_cast<std::size_t>(std::ranges::max_element(expected) - expected.begin());
}

std::vector<TriedRisk> try_risks(std::span<const TranslationList> lines,
                                 const std::vector<std::string>& references, bool with_reverse) {
  constexpr std::array kWeights = {0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5};
  constexpr std::array kTemperatures = {0.01, 0.02, 0.05, 0.1, 0.2, 0.4};
  const std::vector<Likeness> likeness = likeness_of(lines);
  const References all = {references};
  const std::vector<Metric> metrics = metrics_of(EvaluateConfig{}, all, "");
  const auto score = [&all](const Metric& metric, const std::vector<std::string>& taken) {
    return metric.score(metric.count(taken, all).sum());
  };
  std::vector<TriedRisk> tried;
  for (const double weight : std::span(kWeights).first(with_reverse ? kWeights.size() : 1))
    for (const double temperature : kTemperatures) {
      const RiskConfig config{.reverse_weight = weight, .temperature = temperature};
      std::vector<std::string> taken;
      for (std::size_t i = 0; i < lines.size(); ++i)
        taken.push_back(lines[i][least_risk(lines[i], likeness[i], config)].text);
      tried.push_back({config, score(metrics[0], taken), score(metrics[1], taken)});
    }
  return tried;
}

}  // namespace dragoman
