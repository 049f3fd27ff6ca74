// From logits to the most probable tokens.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "inference/search/engine.h"

namespace dragoman {

/// The candidates and reported log-probabilities of `step`. logits [R, V] in any type on any
/// device; they are not changed.
void best_candidates(const torch::Tensor& logits, std::span<const TokenId> never_emitted,
                     const StepRequest& step);

}  // namespace dragoman
