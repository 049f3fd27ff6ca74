// The tokens of all hypotheses of G groups of B rows: each token is a node that knows the row of
// the token before it. A node is written once; what a search drops is never read.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "inference/device/ended_hypotheses.h"
#include "inference/search/search.h"

namespace dragoman {

class HypothesisTree {
 public:
  /// `integers`: int64 on the device. With `keeps_attention`, nodes have the attention to S source
  /// tokens.
  HypothesisTree(std::int64_t groups, std::int64_t rows, bool keeps_attention,
                 torch::TensorOptions integers);

  /// Makes room for so many tokens of a hypothesis and of a source sentence.
  void make_room(std::int64_t tokens, std::int64_t source);

  /// A token of each row [G, B]: attention [G, B, S].
  struct Nodes {
    torch::Tensor parents, tokens;    ///< int64: the rows that they continue
    torch::Tensor log_probabilities;  ///< fp32
    torch::Tensor attention = {};
  };
  /// Writes the nodes at each group's place [G] int64.
  void add(const Nodes& nodes, const torch::Tensor& places);

  /// Up to `most` hypotheses of groups [n] int64, on the host, best first. source_lengths [G]: how
  /// much of the attention is theirs.
  std::vector<std::vector<Hypothesis>> trace(const Ended& ended, const torch::Tensor& groups,
                                             std::int64_t most,
                                             const torch::Tensor& source_lengths) const;

 private:
  const std::int64_t groups_, rows_;
  torch::Tensor parents_, tokens_, log_probabilities_;  // [G, T, B]
  torch::Tensor attention_;                             // [G, T, B, S]; undefined: not kept
};

/// `tensor` with more room in dimension `dim`; zeros there.
torch::Tensor widened(const torch::Tensor& tensor, std::int64_t dim, std::int64_t size);

}  // namespace dragoman
