// A batch as the model takes it, on a GPU: all numbers of both sides stand in one buffer, so that
// one copy takes them there. A batch of the same shape has them at the same places.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "data/packed_batch.h"
#include "model/transformer.h"

namespace dragoman {

/// One random number for each token (DropoutRule, kernels/kernels.h), or none without dropout.
struct RowKeys {
  std::vector<std::int32_t> source, target;  ///< [N]
};

struct BatchInput {
  torch::Tensor numbers;  ///< [words] int64: the buffer, which the sides are views of
  PackedTokens source, target;
};

/// `batch` as it is, with the longest sentences of `shape`. The copy is made from page-locked
/// memory on a stream of its own (copied_to_gpu()).
BatchInput input_on_gpu(const BatchView& batch, const BatchShape& shape, const RowKeys& keys,
                        std::int64_t heads, torch::Device gpu);

/// A copy at places of its own. Sides of the same shape can be copied to it: numbers.copy_().
BatchInput copy_of(const BatchInput& input);

}  // namespace dragoman
