// The functions of the model's layers, except attention, with their gradients: embeddings, linear
// layers, the feed-forward network, and "Add & Norm". A reference is the same by plain tensor
// operations, for any device.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include "model/ops/dropout.h"

namespace dragoman {

/// Embeddings, section 3.4: y_n = scale * weight[token_n]; the paper's scale is sqrt(d_model). The
/// gradient of row v of the weight is scale times the sum of dy_n over all n with token_n = v.
/// tokens [N] int64, weight [V, D] -> [N, D]. Token -1 gives the zero vector. Throws
/// c10::IndexError on the CPU for a token outside of the vocabulary. Backward saves the tokens, and
/// sums in fp32.
torch::Tensor embed(const torch::Tensor& tokens, const torch::Tensor& weight, double scale);
torch::Tensor embed_reference(const torch::Tensor& tokens, const torch::Tensor& weight,
                              double scale);

/// The input of the first layer: dropout(scale * weight[token] + encodings[position]), sections
/// 3.4, 3.5 and 5.4. `encodings` [P, D] have no gradient; positions are [N] int64; row_keys are as
/// in Dropout. On a GPU our kernels compute it in one pass, and sum in one order.
struct TokenInput {
  const torch::Tensor& tokens;
  const torch::Tensor& weight;
  double scale;
  const torch::Tensor& encodings;
  const torch::Tensor& positions;
  const Dropout& dropout;
  const torch::Tensor& row_keys;
};
torch::Tensor embed_at_positions(const TokenInput& input);

/// A linear layer: y = x W^T + b. Backward saves x and W: dx = dy W, dW = dy^T x and db = the sum
/// of dy's rows. x [N, C] -> [N, D].
torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x);

/// Several linear layers on one input as one product: x [N, C] -> [x W_1^T + b_1, x W_2^T + b_2,
/// ...]. Weights that lie one after another in memory are not copied.
torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases);

/// The position-wise feed-forward network of section 3.3, equation 2, with dropout on the inner
/// activations: FFN(x) = dropout(max(0, x W_1^T + b_1)) W_2^T + b_2. x [N, D] -> [N, D]. Backward
/// saves x, both weights and the inner activations [N, F] after dropout.
torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys);

struct NormalizedSum {
  torch::Tensor sum, normalized;  // [N, D]
  /// `normalized` for a second use. On a GPU our kernel adds up the gradients of both uses, which
  /// takes LibTorch another pass.
  torch::Tensor again = {};
};

/// "Add & Norm" after each sub-layer of figure 1: LayerNorm(residual + dropout(x)), section 3.1,
/// with the layer normalisation of Ba et al. (2016):
///   LayerNorm(s) = (s - mean(s)) / sqrt(variance(s) + epsilon) * gain + bias, for each row s.
/// gain, bias [D]. Forward and backward are one pass of a kernel over the rows each. Backward saves
/// the sum, and the mean and inverse deviation of each row.
struct AddNorm {
  const torch::Tensor& gain;
  const torch::Tensor& bias;
  double epsilon;
  Dropout dropout;

  /// x, residual [N, D]. An undefined residual counts as zero.
  NormalizedSum apply(const torch::Tensor& x, const torch::Tensor& residual,
                      const torch::Tensor& row_keys) const;
};
NormalizedSum add_norm_reference(const AddNorm& norm, const torch::Tensor& x,
                                 const torch::Tensor& residual, const torch::Tensor& row_keys);

}  // namespace dragoman
