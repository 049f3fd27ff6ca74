// Flash attention (Dao 2023) on packed batches: LibTorch's kernel for GPUs. It never stores the
// attention weights, and needs no padding.
#pragma once

#include <torch/types.h>

#include "model/ops/attention.h"

namespace dragoman {

/// Whether the kernel computes heads of `d_k` elements here: on a GPU that has it, in bf16 or fp16,
/// a multiple of 8 elements, with a LibTorch whose interface is the one that this program was
/// written for. It computes no
/// dropout on the weights: its own would not be ours.
bool has_flash_attention(torch::ScalarType type, torch::Device device, std::int64_t d_k);

/// Equation 1: q [N, H, K], k and v [M, H, K] -> [N, H, K]. Filler rows become zero, in gradients
/// too. Gradients are sums in one order. The rows of a matrix may stand apart, elements of a row
/// not.
torch::Tensor flash_attention(const torch::Tensor& q, const torch::Tensor& k,
                              const torch::Tensor& v, const AttentionPattern& pattern);

}  // namespace dragoman
