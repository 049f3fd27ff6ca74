// Flash attention (Dao 2023) on packed batches: LibTorch's kernel for GPUs. It never stores the
// attention weights, and needs no padding.
#pragma once

#include <torch/types.h>

#include "model/ops/attention.h"

namespace dragoman {

/// Whether the kernel computes these heads here: on a GPU that has it, in bf16 or fp16, without
/// dropout on the weights (its own would not be ours). q [N, H, K].
bool has_flash_attention(const torch::Tensor& q, const AttentionPattern& pattern);

/// Equation 1: q [N, H, K], k and v [M, H, K] -> [N, H, K]. Filler rows become zero, in gradients
/// too. The rows of a matrix may stand apart, elements of a row not.
torch::Tensor flash_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, const AttentionPattern& pattern);

}  // namespace dragoman
