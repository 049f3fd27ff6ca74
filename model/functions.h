// Differentiable functions that run on our kernels on the CPU and as plain tensor operations on any
// other device; which one is decided here and nowhere else. The plain operations are also the
// reference that tests hold the kernels to.
#pragma once

#include <torch/types.h>

#include "model/packed_layout.h"

namespace dragoman {

/// One dropout of the model (section 5.4). Which elements it drops is a pure function of the
/// token's row key, the site and the column (kernels/kernels.h), so it is the same for any batch
/// and device. The rate is rounded to 256ths, to at most 255.
struct Dropout {
  double rate;
  std::uint32_t site;  ///< distinct for every dropout of the model

  std::uint32_t threshold() const;
  /// dropout(x); x itself where row_keys is undefined or the rate is 0. x [N, C], row_keys [N].
  torch::Tensor apply(const torch::Tensor& x, const torch::Tensor& row_keys) const;
  /// residual + dropout(x).
  torch::Tensor add(const torch::Tensor& x, const torch::Tensor& residual,
                    const torch::Tensor& row_keys) const;
  /// dropout(relu(x)).
  torch::Tensor relu(const torch::Tensor& x, const torch::Tensor& row_keys) const;
};

/// The factors (0 or 1 / (1 - rate)) that `dropout` multiplies with: [heads-expanded rows, columns]
/// fp32. Rows are (b * heads + h) * queries + t; row_keys is [B * queries].
torch::Tensor dropout_factors(const Dropout& dropout, const torch::Tensor& row_keys,
                              std::int64_t heads, std::int64_t queries, std::int64_t columns);

enum class AttentionMask { Padding, Causal };

/// dropout(softmax(scores / sqrt(d_k))) over the keys that a query may see: those of its sentence,
/// and with Causal none after its own position. scores [B*H, T, S].
torch::Tensor attention_weights(const torch::Tensor& scores, const PackedLayout& queries,
                                const PackedLayout& keys, AttentionMask mask, double scale,
                                const Dropout& dropout);
/// The same by plain tensor operations (masks and softmax as in the paper), for any device.
torch::Tensor attention_weights_reference(const torch::Tensor& scores, const PackedLayout& queries,
                                          const PackedLayout& keys, AttentionMask mask,
                                          double scale, const Dropout& dropout);

/// Equation 1 on a packed batch: softmax(Q K^T / sqrt(d_k)) V per head and sentence, with dropout
/// on the weights. q [N, D] of `queries`, k and v [M, D] of `keys` -> [N, D]; zero where a row is
/// no token. On the CPU our kernel, which knows no padding; elsewhere, and for very long sentences,
/// the padded path.
torch::Tensor packed_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const PackedLayout& queries,
                               const PackedLayout& keys, AttentionMask mask,
                               const Dropout& dropout);
/// The same through the padded layout [B*H, L, K].
torch::Tensor padded_attention(const torch::Tensor& q, const torch::Tensor& k,
                               const torch::Tensor& v, const PackedLayout& queries,
                               const PackedLayout& keys, AttentionMask mask,
                               const Dropout& dropout);

/// scaled_dot_product_attention of the padded layout: q [B*H, T, K], k and v [B*H, S, K] -> [B*H,
/// T, K].
torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, const PackedLayout& queries,
                                           const PackedLayout& keys, AttentionMask mask,
                                           const Dropout& dropout);

/// scale * weight[tokens], the zero vector for token -1. tokens [N] int64; the gradient is summed
/// in fp32.
torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale);

}  // namespace dragoman
