// The sub-layers of encoder and decoder, and the connection around each of them (section 3.1):
// multi-head attention (section 3.2) and the position-wise feed-forward network (section 3.3).
// Letters: N tokens of a packed batch, M of the memory, D d_model.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>

#include "model/file/model_config.h"
#include "model/ops/attention.h"
#include "model/ops/dropout.h"
#include "model/ops/layers.h"
#include "model/ops/packed_layout.h"

namespace dragoman {

// Multi-head attention, section 3.2.2. Equation 1 itself is in model/ops/attention.h.

/// The inputs of self-attention, [N, D] each: one tensor, unless norm = before-queries.
struct SelfAttentionInput {
  torch::Tensor queries;
  torch::Tensor keys;  ///< the input of keys and values
};

/// A layer's keys and values of the encoder's output, [M, D] each.
struct ProjectedMemory {
  torch::Tensor keys, values;
};

/// MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W^O. The projections are public, so that a
/// cache can compute keys and values once and attend with them many times.
struct MultiHeadAttentionImpl : torch::nn::Module {
  /// `site` numbers this module's dropout.
  MultiHeadAttentionImpl(const ModelConfig& config, std::uint32_t site);

  /// -> [N, D]. If there is one input, its three projections are one product.
  torch::Tensor self(const SelfAttentionInput& x, const PackedLayout& layout, AttentionMask mask);
  /// Queries from x [N, D], keys and values from `memory` [M, D] -> [N, D]. `queries` and `keys`
  /// are the layouts of the two.
  torch::Tensor cross(const torch::Tensor& x, const torch::Tensor& memory,
                      const PackedLayout& queries, const PackedLayout& keys);
  /// The same with keys and values that are projected already. Must not be called if our kernel for
  /// the CPU would compute it.
  torch::Tensor cross(const torch::Tensor& x, const ProjectedMemory& memory,
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

/// Position-wise feed-forward network, section 3.3, equation 2: FFN(x) = max(0, x W1 + b1) W2 + b2.
/// Options: GELU and Swish instead of max(0, .); gated (Shazeer 2020): act(x Wg + bg) * (x W1 +
/// b1).
struct FeedForwardImpl : torch::nn::Module {
  FeedForwardImpl(const ModelConfig& config, std::uint32_t site);

  /// x [N, D] -> [N, D]; row_keys as in Dropout.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& row_keys);

  torch::nn::Linear inner, gate{nullptr}, outer;  ///< W1, Wg (only if gated) and W2 above
  Activation activation;
  Dropout dropout;  ///< of the inner activations
};
TORCH_MODULE(FeedForward);

// Around each sub-layer, section 3.1: LayerNorm(x + Sublayer(x)), with dropout on the sub-layer's
// output (section 5.4). Option norm = before: x + Sublayer(LayerNorm(x)), as in the paper's later
// code. Option norm = before-queries: the same, except in self-attention. There the queries come
// from LayerNorm(x), but keys and values come from x, as with Marian's transformer-preprocess "n":
// its LayerAttention (models/transformer.h) normalises its input, which becomes the queries, and
// gets keys and values from the caller.

/// The value between two sub-layers, residual + dropout(output), [N, D] each, not yet added up:
/// `output` is the last sub-layer's. The next normalisation does the addition, as it reads both
/// anyway. An undefined `output` counts as zero. With norm = after there is no `output` between two
/// sub-layers, as each sum is normalised at once, and `input` is the same sum once more, for the
/// sub-layer (NormalizedSum::again); if undefined, the sub-layer takes `residual`.
struct ResidualStream {
  torch::Tensor residual, output;
  Dropout dropout;
  torch::Tensor input = {};

  NormalizedSum normalize(torch::nn::LayerNorm& norm, const torch::Tensor& row_keys) const;
  torch::Tensor value(const torch::Tensor& row_keys) const;
};

/// Layer normalisation over the last dimension, D.
torch::nn::LayerNorm layer_norm(const ModelConfig& config);

/// x [N, D], normalised if there is a norm (Marian's transformer-postprocess-emb "n").
torch::Tensor normalized_if_asked(torch::nn::LayerNorm& norm, const torch::Tensor& x);

/// A sub-layer with its residual connection, normalisation and dropout. `sub_layer` maps [N, D] to
/// [N, D]. norm = after returns {LayerNorm(x + dropout(Sublayer(x)))}; the others return
/// {x, Sublayer(LayerNorm(x))}, which is still to be added up. row_keys [N] as in Dropout.
template <class SubLayer>
ResidualStream residual_connection(const ResidualStream& x, torch::nn::LayerNorm& norm,
                                   NormPosition position, const Dropout& dropout,
                                   const torch::Tensor& row_keys, SubLayer&& sub_layer) {
  if (is_before(position)) {
    const NormalizedSum input = x.normalize(norm, row_keys);
    return {input.sum, sub_layer(input.normalized), dropout};
  }
  const ResidualStream added{x.residual, sub_layer(x.input.defined() ? x.input : x.residual),
                             dropout};
  const NormalizedSum result = added.normalize(norm, row_keys);
  return {result.normalized, {}, {}, result.again};
}

/// The same around self-attention.
template <class SelfAttention>
ResidualStream self_attention_connection(const ResidualStream& x, torch::nn::LayerNorm& norm,
                                         NormPosition position, const Dropout& dropout,
                                         const torch::Tensor& row_keys, SelfAttention&& attend) {
  if (position == NormPosition::BeforeQueries) {
    const NormalizedSum input = x.normalize(norm, row_keys);
    return {input.sum, attend({.queries = input.normalized, .keys = input.sum}), dropout};
  }
  return residual_connection(x, norm, position, dropout, row_keys, [&](const torch::Tensor& input) {
    return attend({.queries = input, .keys = input});
  });
}

}  // namespace dragoman
