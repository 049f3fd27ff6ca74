#include "evaluation/evaluate.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "evaluation/metric.h"

namespace dragoman {

namespace {

/// The signature with facts about the resampling behind its first part, as sacreBLEU has them:
/// "nrefs:1|bs:1000|seed:12345|...".
std::string resampled_signature(const std::string& signature, std::string_view kind,
                                std::int64_t samples) {
  const std::size_t behind = signature.find('|') + 1;
  return join_text(signature.substr(0, behind), kind, ":", samples, "|seed:", kSignificanceSeed,
                   "|", signature.substr(behind));
}

void add_lines(std::vector<NamedScore>& scores, const Metric& metric,
               const LineStatistics& statistics) {
  for (std::size_t i = 0; i < statistics.lines(); ++i)
    scores.push_back({{.score = metric.score(statistics.line(i))},
                      metric.name,
                      metric.signature,
                      metric.details(statistics.line(i)),
                      static_cast<std::int64_t>(i) + 1});
}

}  // namespace

std::vector<SystemCounts> count_systems(const std::vector<std::vector<std::string>>& hypotheses,
                                        const References& references, const EvaluateConfig& config,
                                        std::string_view version, const std::stop_token& stop) {
  std::vector<SystemCounts> counts;
  std::vector<bool> same_output(hypotheses.size());
  for (std::size_t s = 1; s < hypotheses.size(); ++s)
    same_output[s] = hypotheses[s] == hypotheses.front();
  for (Metric& metric : metrics_of(config, references, version)) {
    std::vector<LineStatistics> systems;
    for (const auto& lines : hypotheses) {
      if (stop.stop_requested()) return counts;
      systems.push_back(metric.count(lines, references));
    }
    counts.push_back({std::move(metric), std::move(systems), same_output});
  }
  return counts;
}

Comparison compare(const std::vector<std::string>& names, const std::vector<SystemCounts>& counts,
                   const EvaluateConfig& config, const std::stop_token& stop) {
  Comparison comparison{.systems = names, .metrics = {}, .signatures = {}, .scores = {}};
  if (stop.stop_requested()) return comparison;  // perhaps without any counts
  std::string_view kind;
  std::int64_t samples = 0;
  if (config.paired_bootstrap) {
    kind = "bs", samples = config.paired_bootstrap_n;
    comparison.scores = paired_bootstrap(counts, samples, stop);
  } else if (config.paired_approximate_randomization) {
    kind = "ar", samples = config.paired_approximate_randomization_n;
    comparison.scores = paired_randomization(counts, samples, stop);
  } else if (config.confidence) {
    kind = "bs", samples = config.confidence_n;
    comparison.scores = bootstrap_scores(counts, samples, stop);
  } else {
    comparison.scores = plain_scores(counts);
  }
  comparison.paired = config.paired_bootstrap || config.paired_approximate_randomization;
  // Chance never exceeds a difference of 0, so the tests would find a small p-value.
  if (comparison.paired) comparison.same_output = counts.front().same_output;
  for (auto& scores : comparison.scores)
    for (std::size_t s = 0; s < comparison.same_output.size(); ++s)
      if (comparison.same_output[s]) scores[s].p_value.reset();
  for (const auto& [metric, systems, same_output] : counts) {
    comparison.metrics.push_back(metric.name);
    comparison.signatures.push_back(
        samples > 0 ? resampled_signature(metric.signature, kind, samples) : metric.signature);
  }
  return comparison;
}

std::vector<NamedScore> evaluate_lines(const std::vector<std::string>& hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version, const std::stop_token& stop) {
  const auto counts = count_systems({hypotheses}, references, config, version, stop);
  if (stop.stop_requested()) return {};
  std::vector<NamedScore> scores;
  if (config.sentence_level) {
    for (const SystemCounts& metric : counts)
      add_lines(scores, metric.metric, metric.systems.front());
    std::stable_sort(scores.begin(), scores.end(),
                     [](const NamedScore& a, const NamedScore& b) { return a.line < b.line; });
    return scores;
  }
  const Comparison comparison = compare({""}, counts, config, stop);
  if (stop.stop_requested()) return {};
  for (std::size_t m = 0; m < counts.size(); ++m)
    scores.push_back({comparison.scores[m].front(), comparison.metrics[m], comparison.signatures[m],
                      counts[m].metric.details(counts[m].systems.front().sum())});
  return scores;
}

}  // namespace dragoman
