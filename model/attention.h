// Multi-head attention, section 3.2 of the paper; equation 1 itself stands in ops/attention.h.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "model/file/model_config.h"
#include "model/ops/attention.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

/// What self-attention reads, [N, D] each: one tensor, unless norm = before-queries.
struct SelfAttentionInput {
  torch::Tensor queries;
  torch::Tensor keys;  ///< of keys and values
};

/// Section 3.2.2: MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O. The projections are public,
/// so that a cache can compute keys and values once and attend with them many times.
struct MultiHeadAttentionImpl : torch::nn::Module {
  /// `site` numbers this module's dropout.
  MultiHeadAttentionImpl(const ModelConfig& config, std::uint32_t site);

  /// -> [N, D]. Of one input the three projections are one product.
  torch::Tensor self(const SelfAttentionInput& x, const PackedLayout& layout, AttentionMask mask);
  /// Queries from x [N, D], keys and values from `memory` [M, D] -> [N, D]. `queries` and `keys`
  /// are the layouts of the two.
  torch::Tensor cross(const torch::Tensor& x, const torch::Tensor& memory,
                      const PackedLayout& queries, const PackedLayout& keys);

  torch::nn::Linear query, key, value, output;
  std::int64_t heads;
  Dropout dropout;

 private:
  /// Queries from x [N, D], keys and values from `memory` [M, D] -> [N, D].
  torch::Tensor attend(const torch::Tensor& x, const torch::Tensor& memory,
                       const AttentionPattern& pattern);
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace dragoman
