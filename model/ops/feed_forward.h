// The position-wise feed-forward network of section 3.3, equation 2, with dropout on the inner
// activations: FFN(x) = dropout(max(0, x W_1^T + b_1)) W_2^T + b_2.
#pragma once

#include <torch/nn/modules/linear.h>
#include <torch/types.h>

#include "model/ops/dropout.h"

namespace dragoman {

/// x [N, D] -> [N, D]. Backward saves x, both weights and the inner activations [N, F] after
/// dropout.
torch::Tensor relu_feed_forward(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                const Dropout& dropout, const torch::Tensor& x,
                                const torch::Tensor& row_keys);
/// The same by plain tensor operations.
torch::Tensor relu_feed_forward_reference(torch::nn::Linear& inner, torch::nn::Linear& outer,
                                          const Dropout& dropout, const torch::Tensor& x,
                                          const torch::Tensor& row_keys);

}  // namespace dragoman
