// The loss of the output projection, in chunks of tokens: gradients are formed while a chunk's
// logits exist, and logits are never kept whole. One call serves three losses, of each token:
//   cross-entropy with label smoothing, of logits (training/loss/token_losses.h)
//   R-Drop, of the logits that two passes gave the same tokens (training/loss/token_losses.h)
//   cross-entropy with label smoothing, without logits in memory (training/loss/loss.cpp)
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/loss/loss_config.h"

namespace dragoman {

struct LossSums {
  torch::Tensor objective;  ///< scalar fp32, sum over tokens; the one that has a gradient
  torch::Tensor smoothed;   ///< scalar fp64: cross-entropy with smoothing, the passes' mean
  torch::Tensor negative_log_likelihood;  ///< scalar fp64: the same without smoothing
};

/// hidden [N, D], weight [V, D], bias [V] or undefined, targets [N] int64, -1 for rows without one.
/// With R-Drop hidden is [2N, D], row N + n the second pass of row n. Gradients are formed if grad
/// mode is on; the weight's is summed in fp32 over chunks. Does not wait for a GPU.
LossSums projected_cross_entropy(const torch::Tensor& hidden, const torch::Tensor& weight,
                                 const torch::Tensor& bias, const torch::Tensor& targets,
                                 const LossConfig& config);

/// The number of tokens in a chunk, if there are `tokens` in all. There are as few chunks as the
/// configuration allows, and all but the last have the same size.
std::int64_t chunk_size(const LossConfig& config, std::int64_t tokens, std::int64_t vocabulary);

}  // namespace dragoman
