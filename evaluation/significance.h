// Significance tests for differences between systems: bootstrap resampling (Koehn 2004) and
// approximate randomization (Riezler and Maxwell 2005), with sacreBLEU's draws and roundings, so
// that the numbers are the same as sacreBLEU's.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "evaluation/evaluate_config.h"

namespace dragoman {

inline constexpr std::uint32_t kSignificanceSeed = 12345;  ///< sacreBLEU's

/// One system's score by one metric.
struct SystemScore {
  double score = 0;
  std::optional<double> mean = {};      ///< of resampled corpora
  std::optional<double> interval = {};  ///< half the span from the 2.5th to the 97.5th percentile
  std::optional<double> p_value = {};   ///< of the difference from the baseline
};

/// The counts of all systems for one metric; the first system is the baseline. All have the same
/// lines.
struct SystemCounts {
  Metric metric;
  std::vector<LineStatistics> systems;
  /// [system] whether its lines are those of the baseline, byte for byte.
  std::vector<bool> same_output = {};
};

/// [metric][system]
using ScoreTable = std::vector<std::vector<SystemScore>>;

/// Scores without intervals and p-values.
ScoreTable plain_scores(const std::vector<SystemCounts>& counts);

// Each of these functions ends within one resampled corpus if `stop` is requested. The result then
// has only the scores.

/// Scores with means and intervals from `samples` resampled corpora.
ScoreTable bootstrap_scores(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            const std::stop_token& stop = {});
/// Scores with means, intervals, and p-values of all systems but the baseline.
ScoreTable paired_bootstrap(const std::vector<SystemCounts>& counts, std::int64_t samples,
                            const std::stop_token& stop = {});
/// Scores with p-values from `trials` exchanges of lines with the baseline.
ScoreTable paired_randomization(const std::vector<SystemCounts>& counts, std::int64_t trials,
                                const std::stop_token& stop = {});

/// The second system's score less the first's.
struct PairDifference {
  std::size_t first = 0, second = 0;
  double low = 0, high = 0;  ///< 2.5th and 97.5th percentile over the resampled corpora
  double p_value = 1;        ///< that of paired_bootstrap with the first as the baseline
};

/// [metric][pair] for every two systems (first < second). All pairs have the same resampled
/// corpora. Ends within one of them if `stop` is requested. No metric has pairs then.
std::vector<std::vector<PairDifference>> paired_bootstrap_of_all(
    const std::vector<SystemCounts>& counts, std::int64_t samples,
    const std::stop_token& stop = {});

/// The random numbers of numpy.random.default_rng(seed), so that resampled corpora are the same as
/// sacreBLEU's: PCG64 (O'Neill 2014, PCG XSL RR 128/64) seeded by numpy's SeedSequence.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);

  std::uint64_t next64();
  /// Halves of a 64-bit number, the lower one first.
  std::uint32_t next32();
  /// rng.integers(0, count), count from 1 to 2^32 - 1 (Lemire 2019).
  std::uint32_t below(std::uint32_t count);

 private:
  unsigned __int128 state_, increment_;
  std::uint32_t upper_half_ = 0;
  bool has_upper_half_ = false;
};

}  // namespace dragoman
