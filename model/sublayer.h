// Around each sub-layer, section 3.1: LayerNorm(x + Sublayer(x)), with dropout on the sub-layer's
// output (section 5.4). Option norm = before: x + Sublayer(LayerNorm(x)), as in the paper's later
// code. Option norm = before-queries: the same, except for self-attention, where the queries alone
// are of LayerNorm(x), and keys and values are of x. Marian's transformer-preprocess "n" does so:
// its LayerAttention (models/transformer.h) normalises its input, which becomes the queries, and
// gets keys and values from the caller.
#pragma once

#include <torch/nn/modules/normalization.h>

#include "model/attention.h"
#include "model/file/model_config.h"
#include "model/ops/add_norm.h"

namespace dragoman {

inline AddNorm add_norm(torch::nn::LayerNorm& norm, const Dropout& dropout) {
  return {norm->weight, norm->bias, norm->options.eps(), dropout};
}

/// The value between two sub-layers, residual + dropout(output), [N, D] each, not yet added up:
/// `output` is the last sub-layer's. The next normalisation does the addition, as it reads both
/// anyway. An undefined `output` counts as zero. With norm = after there is no `output` between two
/// sub-layers, as each sum is normalised at once.
struct ResidualStream {
  torch::Tensor residual, output;
  Dropout dropout;

  NormalizedSum normalize(torch::nn::LayerNorm& norm, const torch::Tensor& row_keys) const {
    if (!output.defined()) return add_norm(norm, {}).apply(residual, {}, {});
    return add_norm(norm, dropout).apply(output, residual, row_keys);
  }
  torch::Tensor value(const torch::Tensor& row_keys) const {
    return output.defined() ? dropout.add(output, residual, row_keys) : residual;
  }
};

/// x [N, D], normalised where there is a norm (Marian's transformer-postprocess-emb "n").
inline torch::Tensor normalized_if_asked(torch::nn::LayerNorm& norm, const torch::Tensor& x) {
  return norm ? add_norm(norm, {}).apply(x, {}, {}).normalized : x;
}

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
  const ResidualStream added{x.residual, sub_layer(x.residual), dropout};
  return {added.normalize(norm, row_keys).normalized, {}, {}};
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

/// Layer normalisation over the last dimension, D.
inline torch::nn::LayerNorm layer_norm(const ModelConfig& config) {
  return torch::nn::LayerNorm(
      torch::nn::LayerNormOptions({config.d_model}).eps(config.norm_epsilon));
}

}  // namespace dragoman
