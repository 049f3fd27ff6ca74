#include "evaluation/evaluate.h"

#include <algorithm>
#include <functional>

namespace dragoman {

namespace {

/// A metric's counts, and what makes a score of a row or sum of them.
struct Counted {
  LineStatistics statistics;
  std::function<NamedScore(std::span<const std::int64_t>)> score;
};

Counted count_metric(const std::string& metric, std::span<const std::string> hypotheses,
                     const References& references, const EvaluateConfig& config,
                     std::string_view version) {
  if (metric == "bleu") {
    const BleuConfig bleu = config.bleu();
    const std::string signature = bleu_signature(bleu, references.size(), version);
    return {bleu_statistics(hypotheses, references, bleu), [=](std::span<const std::int64_t> sum) {
              const BleuScore score = bleu_of_statistics(sum, bleu);
              return NamedScore{"BLEU", score.score, signature, bleu_details(score)};
            }};
  }
  const ChrfConfig chrf = config.chrf(metric);
  const std::string signature = chrf_signature(chrf, references.size(), version);
  return {chrf_statistics(hypotheses, references, chrf), [=](std::span<const std::int64_t> sum) {
            return NamedScore{chrf_name(chrf), chrf_of_statistics(sum, chrf), signature, ""};
          }};
}

}  // namespace

std::vector<NamedScore> evaluate_lines(std::span<const std::string> hypotheses,
                                       const References& references, const EvaluateConfig& config,
                                       std::string_view version) {
  std::vector<NamedScore> scores;
  for (const std::string& metric : config.metrics) {
    const Counted counted = count_metric(metric, hypotheses, references, config, version);
    if (!config.sentence_level) {
      scores.push_back(counted.score(counted.statistics.sum()));
      continue;
    }
    for (std::size_t i = 0; i < counted.statistics.lines(); ++i) {
      scores.push_back(counted.score(counted.statistics.line(i)));
      scores.back().line = static_cast<std::int64_t>(i) + 1;
    }
  }
  std::stable_sort(scores.begin(), scores.end(),
                   [](const NamedScore& a, const NamedScore& b) { return a.line < b.line; });
  return scores;
}

}  // namespace dragoman
