// Stretches of a text whose target lines stand some lines too early or too late, as after a line
// that one side lost: a hidden Markov model over the shift, judged by the lengths of the lines
// (Gale and Church 1993), or by their words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "extras/corpus/pair_checks.h"

namespace dragoman {

/// What the model knows of a pair.
struct PairShape {
  std::uint16_t source_length = 0, target_length = 0;  ///< characters; 0: not to be judged
};
PairShape shape_of(std::int64_t source_characters, std::int64_t target_characters);

/// Pairs [begin, end) whose source fits the target `shift` lines later.
struct ShiftedStretch {
  std::int64_t begin, end;
  int shift;  ///< never 0; -8 to 8
  bool operator==(const ShiftedStretch&) const = default;
};

inline constexpr int kMostShift = 8;
inline constexpr std::size_t kShifts = 2 * kMostShift + 1;  ///< from -kMostShift to kMostShift

/// How well a target line fits as the translation of a source line: the logarithm of a likelihood
/// ratio.
using LineEvidence = std::function<double(std::int64_t source, std::int64_t target)>;

/// The stretches of `least_lines` or more among lines 0 to `lines` - 1.
std::vector<ShiftedStretch> likely_stretches(std::int64_t lines, const LineEvidence& evidence,
                                             std::int64_t least_lines);

/// The stretches in the pairs of one file, by the lengths of their lines.
std::vector<ShiftedStretch> shifted_stretches(std::span<const PairShape> pairs,
                                              const UsualPair& usual, std::int64_t least_lines);

}  // namespace dragoman
