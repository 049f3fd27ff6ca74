// The next tokens of each row: the most probable ones, or one that is drawn. Operations on tensors
// [R, V] and [R, C]; none waits for the host.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "inference/search/decode_config.h"

namespace dragoman {

/// The tokens [R, count] int64 with the largest values of each row, the largest first; of equal
/// values the smaller token first. values [R, V] fp32.
torch::Tensor best_tokens(const torch::Tensor& values, std::int64_t count);

/// draw() of inference/search/extensions for each row: the index [R, 1] of its choice among the
/// log-probabilities [R, C], which stand in the order in which they are drawn from. uniform [R, 1]
/// double decides.
torch::Tensor draw(const torch::Tensor& log_probabilities, const DecodeConfig& config,
                   const torch::Tensor& uniform);

}  // namespace dragoman
