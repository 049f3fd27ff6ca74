// Differentiable functions. On the CPU they run on our kernels, on any other device as plain tensor
// operations. This choice is made here and nowhere else. The plain operations are also the
// reference that tests compare the kernels with.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include "model/packed_layout.h"

namespace dragoman {

/// One dropout of the model (section 5.4). Which elements are dropped is a pure function of the
/// token's row key, the site and the column (kernels/kernels.h). So they are the same for any batch
/// and device. The rate is rounded to 256ths, at most 255.
struct Dropout {
  double rate = 0;
  std::uint32_t site = 0;  ///< distinct for every dropout of the model

  std::uint32_t threshold() const;
  /// dropout(x); x itself where row_keys is undefined or the rate is 0. x [N, C], row_keys [N].
  torch::Tensor apply(const torch::Tensor& x, const torch::Tensor& row_keys) const;
  /// residual + dropout(x).
  torch::Tensor add(const torch::Tensor& x, const torch::Tensor& residual,
                    const torch::Tensor& row_keys) const;
  /// dropout(relu(x)).
  torch::Tensor relu(const torch::Tensor& x, const torch::Tensor& row_keys) const;
};

struct NormalizedSum {
  torch::Tensor sum, normalized;  // [N, D]
};

/// The "Add & Norm" behind each sub-layer of figure 1: the sum residual + dropout(x), and the
/// LayerNorm of the sum over the last dimension. An undefined residual counts as zero. x, residual
/// [N, D]; gain, bias [D].
struct AddNorm {
  const torch::Tensor& gain;
  const torch::Tensor& bias;
  double epsilon;
  Dropout dropout;

  NormalizedSum apply(const torch::Tensor& x, const torch::Tensor& residual,
                      const torch::Tensor& row_keys) const;
};
/// The same by plain tensor operations, for any device.
NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys);

/// The factors (0 or 1 / (1 - rate)) of `dropout`, fp32 [B * heads * queries, columns]. Row (b *
/// heads + h) * queries + t belongs to head h of query t; row_keys is [B * queries].
torch::Tensor dropout_factors(const Dropout& dropout, const torch::Tensor& row_keys,
                              std::int64_t heads, std::int64_t queries, std::int64_t columns);

enum class AttentionMask { Padding, Causal };

/// The keys that each query may see, and the dropout on the weights. A query sees the keys of its
/// sentence; with Causal none after its own position.
struct AttentionPattern {
  const PackedLayout& queries;
  const PackedLayout& keys;
  AttentionMask mask;
  Dropout dropout;
};

/// scale * scores, with -infinity where a query may not see a key. scores [B*H, T, S] -> [B, H, T,
/// S].
torch::Tensor masked_scores(const torch::Tensor& scores, const AttentionPattern& pattern,
                            double scale);

/// dropout(softmax(scale * scores)) over the keys that a query may see. scores [B*H, T, S].
torch::Tensor attention_weights(const torch::Tensor& scores, const AttentionPattern& pattern,
                                double scale);
/// The same by plain tensor operations (masks and softmax as in the paper), for any device.
torch::Tensor attention_weights_reference(const torch::Tensor& scores,
                                          const AttentionPattern& pattern, double scale);

/// Equation 1 on a packed batch: softmax(Q K^T / sqrt(d_k)) V for each head and sentence, with
/// dropout on the weights -> [N, D]. Rows that are no token become zero.
///
/// Either queries are [N, D] and memory is [M, 2D], keys beside values; or memory is undefined, and
/// queries, keys and values stand side by side in `queries`, [N, 3D]. On the CPU our kernel
/// computes it without padding. Other devices and very long sentences take the padded path.
torch::Tensor packed_attention(const torch::Tensor& queries, const torch::Tensor& memory,
                               const AttentionPattern& pattern);
/// The same by way of the padded layout [B*H, L, K].
torch::Tensor padded_attention(const torch::Tensor& queries, const torch::Tensor& memory,
                               const AttentionPattern& pattern);

/// scaled_dot_product_attention of the padded layout: q [B*H, T, K], k and v [B*H, S, K] -> [B*H,
/// T, K].
torch::Tensor scaled_dot_product_attention(const torch::Tensor& q, const torch::Tensor& k,
                                           const torch::Tensor& v, const AttentionPattern& pattern);

/// Several linear layers on one input as one product: x [N, C] -> [x W_1^T + b_1, x W_2^T + b_2,
/// ...]. Weights that lie behind each other in memory are not copied.
torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases);

torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x);

/// Section 3.3: outer(dropout(relu(inner(x)))). [N, D] -> [N, D].
torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys);

/// scale * weight[tokens]; token -1 gives the zero vector. tokens [N] int64. The gradient is summed
/// in fp32.
torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale);

}  // namespace dragoman
