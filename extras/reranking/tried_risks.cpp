#include "extras/reranking/tried_risks.h"

#include <array>

#include "evaluation/evaluate_config.h"

namespace dragoman {

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
