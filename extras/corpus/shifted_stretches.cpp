#include "extras/corpus/shifted_stretches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace dragoman {

namespace {

/// The logarithm of a normal density, up to a constant.
double log_normal(double distance, double spread) {
  return -0.5 * distance * distance / (spread * spread) - std::log(spread);
}

/// The logarithm of the likelihood ratio of a target's length, given its own source, to that given
/// any source.
class LengthEvidence {
 public:
  LengthEvidence(std::span<const PairShape> pairs, const UsualPair& usual)
      : ratio_(usual.length_ratio), spread_(usual.length_spread) {
    double sum = 0, squares = 0, count = 0;
    for (const PairShape& pair : pairs) {
      if (pair.target_length == 0) continue;
      const double length = std::log(pair.target_length);
      sum += length;
      squares += length * length;
      ++count;
    }
    mean_ = count > 0 ? sum / count : 0;
    any_spread_ = count > 1 ? std::sqrt(std::max(squares / count - mean_ * mean_, 0.01)) : 1;
  }

  double of(std::uint16_t source, std::uint16_t target) const {
    if (source == 0 || target == 0) return 0;
    // One pair of a rare kind must not decide alone.
    constexpr double kMost = 3, kLeast = -4;
    // Both densities are of the logarithm of the target's length.
    const double expected = ratio_ * source;
    const double own_spread = std::max(spread_ / std::sqrt(expected), 0.05);
    const double own = log_normal(std::log(target / expected), own_spread);
    const double any = log_normal(std::log(target) - mean_, any_spread_);
    return std::clamp(own - any, kLeast, kMost);
  }

 private:
  double ratio_, spread_, mean_, any_spread_;
};

/// The most likely shift of each pair: Viterbi's algorithm. A change of the shift costs so much
/// that a stretch needs evidence from several lines.
std::vector<int> likely_shifts(std::int64_t count, const LineEvidence& evidence) {
  constexpr double kChange = 10;
  std::vector<std::array<std::int8_t, kShifts>> before(
      static_cast<std::size_t>(count));  // the best previous state
  std::array<double, kShifts> score;
  score.fill(-kChange);
  score[kMostShift] = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto best = static_cast<std::size_t>(std::ranges::max_element(score) - score.begin());
    const double changed = score[best] - kChange;
    for (std::size_t state = 0; state < kShifts; ++state) {
      const std::int64_t other = i + static_cast<std::int64_t>(state) - kMostShift;
      const bool stays = score[state] >= changed;
      before[static_cast<std::size_t>(i)][state] = static_cast<std::int8_t>(stays ? state : best);
      if (!stays) score[state] = changed;
      if (other >= 0 && other < count) score[state] += evidence(i, other);
    }
  }
  // At the end of a file, as within, the usual shift is 0.
  for (std::size_t state = 0; state < kShifts; ++state)
    if (state != kMostShift) score[state] -= 0.1;
  auto state = static_cast<std::int8_t>(std::ranges::max_element(score) - score.begin());
  std::vector<int> shifts(before.size());
  for (std::size_t i = before.size(); i-- > 0;) {
    shifts[i] = state - kMostShift;
    state = before[i][static_cast<std::size_t>(state)];
  }
  return shifts;
}

}  // namespace

PairShape shape_of(std::int64_t source_characters, std::int64_t target_characters) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint16_t>::max();
  return {static_cast<std::uint16_t>(std::min(source_characters, kMost)),
          static_cast<std::uint16_t>(std::min(target_characters, kMost))};
}

std::vector<ShiftedStretch> likely_stretches(std::int64_t lines, const LineEvidence& evidence,
                                             std::int64_t least_lines) {
  const std::vector<int> shifts = likely_shifts(lines, evidence);
  std::vector<ShiftedStretch> stretches;
  for (std::int64_t begin = 0, end; begin < std::ssize(shifts); begin = end) {
    const int shift = shifts[static_cast<std::size_t>(begin)];
    for (end = begin; end < std::ssize(shifts) && shifts[static_cast<std::size_t>(end)] == shift;)
      ++end;
    if (shift != 0 && end - begin >= least_lines) stretches.push_back({begin, end, shift});
  }
  return stretches;
}

std::vector<ShiftedStretch> shifted_stretches(std::span<const PairShape> pairs,
                                              const UsualPair& usual, std::int64_t least_lines) {
  const LengthEvidence lengths(pairs, usual);
  return likely_stretches(
      std::ssize(pairs),
      [&](std::int64_t source, std::int64_t target) {
        return lengths.of(pairs[static_cast<std::size_t>(source)].source_length,
                          pairs[static_cast<std::size_t>(target)].target_length);
      },
      least_lines);
}

}  // namespace dragoman
