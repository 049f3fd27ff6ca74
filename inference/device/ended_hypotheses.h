// The hypotheses that have ended, best first, of each of G groups.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace dragoman {

/// Hypotheses of each group, E of them [G, E]. The last token of one is in the tree's place `count
/// - 1`, in the row `row`.
struct Ended {
  torch::Tensor score, sum, penalty;  ///< double; the score is minus infinity where there is none
  torch::Tensor length, count, row;   ///< int64: length as in Hypothesis; tokens without </s>
  torch::Tensor cut;                  ///< bool

  static constexpr torch::Tensor Ended::*kAll[] = {&Ended::score,  &Ended::sum,   &Ended::penalty,
                                                   &Ended::length, &Ended::count, &Ended::row,
                                                   &Ended::cut};
};

class EndedHypotheses {
 public:
  /// Keeps the E = `most` best of each group. `integers`: int64 on the device.
  EndedHypotheses(std::int64_t groups, std::int64_t most, torch::TensorOptions integers);

  /// Forgets those of groups [n] int64.
  void forget(const torch::Tensor& groups) { ended_.score.index_fill_(0, groups, -INFINITY); }
  /// Adds hypotheses in this order. Of equal scores the one that came first stays before.
  void add(const std::vector<Ended>& more);

  torch::Tensor has(std::int64_t count) const;  ///< whether there are so many [G]
  torch::Tensor score_of(std::int64_t rank) const { return ended_.score.select(1, rank); }  ///< [G]
  const Ended& all() const { return ended_; }

 private:
  const std::int64_t most_;
  Ended ended_;  // [G, E]
};

}  // namespace dragoman
