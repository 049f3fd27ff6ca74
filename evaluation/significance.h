// How sure differences between systems are: bootstrap resampling (Koehn 2004) and approximate
// randomization (Riezler and Maxwell 2005), with sacreBLEU's draws and roundings, so that its
// numbers come out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evaluation/metric.h"

namespace dragoman {

inline constexpr std::uint32_t kSignificanceSeed = 12345;  ///< sacreBLEU's

/// What is known of one system's score by one metric.
struct SystemScore {
  double score = 0;
  std::optional<double> mean = {};  ///< of resampled corpora
  std::optional<double> interval =
      {};                              ///< half of that between the 2.5th and the 97.5th percentile
  std::optional<double> p_value = {};  ///< of the difference to the baseline
};

/// The counts of all systems for one metric; the first system is the baseline. All have the same
/// lines.
struct SystemCounts {
  Metric metric;
  std::vector<LineStatistics> systems;
};

/// Each: [metric][system].
using ScoreTable = std::vector<std::vector<SystemScore>>;

/// Scores alone.
ScoreTable plain_scores(const std::vector<SystemCounts>& counts);
/// With mean and interval from `samples` resampled corpora.
ScoreTable bootstrap_scores(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            std::uint32_t seed = kSignificanceSeed);
/// With p-values, too, but for the baseline.
ScoreTable paired_bootstrap(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            std::uint32_t seed = kSignificanceSeed);
/// With p-values from `trials` exchanges of lines with the baseline.
ScoreTable paired_randomization(const std::vector<SystemCounts>& counts, std::int64_t trials,
                                std::uint32_t seed = kSignificanceSeed);

/// Of the second system's score to the first's.
struct PairDifference {
  std::size_t first = 0, second = 0;
  double low = 0, high = 0;  ///< 2.5th and 97.5th percentile over the resampled corpora
  double p_value = 1;        ///< as that of paired_bootstrap with the first as the baseline
};

/// [metric][pair]: every two systems (first < second), all by the same resampled corpora.
std::vector<std::vector<PairDifference>> paired_bootstrap_of_all(
    const std::vector<SystemCounts>& counts, std::int64_t samples,
    std::uint32_t seed = kSignificanceSeed);

}  // namespace dragoman
