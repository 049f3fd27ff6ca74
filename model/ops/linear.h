// A linear layer: y = x W^T + b. Backward saves x and W: dx = dy W, dW = dy^T x and db = the sum of
// dy's rows.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

namespace dragoman {

/// x [N, C] -> [N, D].
torch::Tensor linear(torch::nn::Linear& layer, const torch::Tensor& x);

/// Several linear layers on one input as one product: x [N, C] -> [x W_1^T + b_1, x W_2^T + b_2,
/// ...]. Weights that lie behind each other in memory are not copied.
torch::Tensor joined_linear(const torch::Tensor& x, at::TensorList weights, at::TensorList biases);
/// The same by plain tensor operations, a layer at a time.
torch::Tensor joined_linear_reference(const torch::Tensor& x, at::TensorList weights,
                                      at::TensorList biases);

}  // namespace dragoman
