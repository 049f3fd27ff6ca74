// Cross-entropy with label smoothing (section 5.4; Szegedy et al. 2016) of the output projection,
// and its gradients. Of a token's logits z:
//   loss = -sum_v q_v log p_v, with p = softmax(z)
//   q_v = (1 - smoothing) [v = target] + smoothing / V
//   d loss / d z_v = p_v - q_v
// It is computed in chunks of tokens: gradients are formed while a chunk's logits exist, and logits
// are never kept whole. If there are kernels for it, they do not even go to memory (loss.cpp).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/settings/loss_config.h"

namespace dragoman {

/// The losses of N tokens. A row of the logits without a target has zeros.
struct TokenLosses {
  torch::Tensor values;  ///< [2, N] fp32

  /// [N]: cross-entropy with label smoothing, and without.
  torch::Tensor smoothed() const { return values.select(0, 0); }
  torch::Tensor negative_log_likelihood() const { return values.select(0, 1); }
};

/// The losses of logits [N, V]; the logits are replaced by the gradient of the loss. targets [N]
/// int64, -1 for rows without one. Runs our kernel for the CPU or a GPU, the reference elsewhere.
TokenLosses cross_entropy_in_place(torch::Tensor& logits, const torch::Tensor& targets,
                                   const LossConfig& config);
/// The same by plain tensor operations, for any device.
TokenLosses cross_entropy_reference(torch::Tensor& logits, const torch::Tensor& targets,
                                    const LossConfig& config);

struct LossSums {
  /// Scalar fp32: the smoothed cross-entropy. A backward pass must begin from it, or from a sum
  /// that it is added to: its gradient is 1.
  torch::Tensor objective;
  torch::Tensor values;  ///< [2] fp64: those of TokenLosses, summed over tokens
};

/// hidden [N, D], weight [V, D], bias [V] or undefined, targets [N] int64, -1 for rows without one.
/// Gradients are formed if grad mode is on; the weight's is summed in fp32 over chunks. Does not
/// wait for a GPU.
LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 const LossConfig& config);

/// The number of tokens in a chunk, if there are `tokens` in all. There are as few chunks as the
/// configuration allows, and all but the last have the same size.
std::int64_t chunk_size(const LossConfig& config, std::int64_t tokens, std::int64_t vocabulary);

}  // namespace dragoman
