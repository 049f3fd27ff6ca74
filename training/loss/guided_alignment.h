// Guided alignment (Chen et al. 2016): one layer's cross-attention is taught by word alignments.
// The loss is the cross-entropy between the links of each target piece t and its attention weights,
// before dropout:
//   loss = -sum over links (t, s) of link_weight(t, s) * log attention_weight(t, s)
#pragma once

#include <span>
#include <vector>

#include "data/packed_batch.h"
#include "model/transformer.h"

namespace dragoman {

/// The links of a batch on the model's device.
struct BatchLinks {
  torch::Tensor indices;       ///< [L] int64: (b * T + t) * S + s, of padded weights [B, T, S]
  torch::Tensor link_weights;  ///< [L] fp32

  BatchLinks(std::span<const std::vector<PieceLink>> sentences, const PackedLayout& source,
             const PackedLayout& target);
};

/// The logarithm of the attention weight at each index [L], fp32 or better, for queries [N, D] and
/// keys [M, D]: that of head `head` (from 1), or of the mean of all heads (0). Computed by plain
/// operations on padded heads.
torch::Tensor log_attention_at(const torch::Tensor& indices, const torch::Tensor& queries,
                               const torch::Tensor& keys, const AttentionPattern& pattern,
                               std::int64_t head);

/// PackedDecoderAttention that keeps the logarithms of one layer's cross-attention at the links.
class GuidedDecoderAttention : public PackedDecoderAttention {
 public:
  struct Choice {
    std::int64_t layer;  ///< from 0
    std::int64_t head;   ///< as in log_attention_at()
  };
  GuidedDecoderAttention(const torch::Tensor& memory, const PackedLayout& source,
                         const PackedLayout& target, const BatchLinks& links, Choice choice)
      : PackedDecoderAttention(memory, source, target), links_(links), choice_(choice) {}

  torch::Tensor cross(std::int64_t layer, MultiHeadAttention& module,
                      const torch::Tensor& x) override;

  const torch::Tensor& log_weights() const { return log_weights_; }  ///< [L]
  /// The sum over target pieces; a piece without a link adds nothing.
  torch::Tensor cross_entropy() const { return (links_.link_weights * log_weights_).sum().neg(); }

 private:
  const BatchLinks& links_;
  Choice choice_;
  torch::Tensor log_weights_;
};

}  // namespace dragoman
