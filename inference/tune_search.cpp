#include "inference/tune_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace dragoman {

namespace {

/// Keeps the best of what it tries.
class Tuning {
 public:
  Tuning(const DecodeConfig& start, const std::function<double(const DecodeConfig&)>& score)
      : best_(start), score_(score) {
    attempt(start.beam_size, start.length_penalty);
  }

  void attempt(std::int64_t beam_size, double length_penalty) {
    if (!tried_.emplace(beam_size, length_penalty).second) return;
    DecodeConfig config = best_;
    config.beam_size = beam_size;
    config.length_penalty = length_penalty;
    const double score = score_(config);
    const bool better = !best_score_ || score > *best_score_ ||
                        (score == *best_score_ && beam_size < best_.beam_size);
    if (!better) return;
    best_ = config;
    best_score_ = score;
  }

  const DecodeConfig& best() const { return best_; }

 private:
  DecodeConfig best_;
  std::optional<double> best_score_;
  std::set<std::pair<std::int64_t, double>> tried_;
  const std::function<double(const DecodeConfig&)>& score_;
};

}  // namespace

DecodeConfig tune_search(const DecodeConfig& start,
                         const std::function<double(const DecodeConfig&)>& score) {
  constexpr std::array kPenalties = {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 2.0};
  constexpr std::array<std::int64_t, 8> kBeams = {1, 2, 3, 4, 5, 6, 8, 12};
  Tuning tuning(start, score);
  for (const double penalty : kPenalties) tuning.attempt(start.beam_size, penalty);
  const double penalty = tuning.best().length_penalty;
  for (const std::int64_t beam : kBeams) tuning.attempt(beam, penalty);
  if (const std::int64_t beam = tuning.best().beam_size; beam != start.beam_size)
    for (const double step : {-0.4, -0.2, 0.2, 0.4})
      tuning.attempt(beam, std::max(0.0, std::round(10 * (penalty + step)) / 10));
  return tuning.best();
}

}  // namespace dragoman
