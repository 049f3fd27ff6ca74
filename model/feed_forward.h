// Position-wise feed-forward networks, section 3.3, equation 2: FFN(x) = max(0, x W1 + b1) W2 + b2.
// Options: GELU and Swish instead of max(0, .); gated (Shazeer 2020): act(x Wg + bg) * (x W1 + b1).
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "model/file/model_config.h"
#include "model/ops/dropout.h"

namespace dragoman {

struct FeedForwardImpl : torch::nn::Module {
  FeedForwardImpl(const ModelConfig& config, std::uint32_t site);

  /// x [N, D] -> [N, D]; row_keys as in Dropout.
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& row_keys);

  torch::nn::Linear inner, gate{nullptr}, outer;  ///< W1, Wg (gated alone) and W2 of the formulas
  Activation activation;
  Dropout dropout;  ///< of the inner activations
};
TORCH_MODULE(FeedForward);

}  // namespace dragoman
