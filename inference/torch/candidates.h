// From logits to the most probable tokens.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "inference/engine.h"

namespace dragoman {

/// As Engine::step. logits [R, V] in any type on any device; they are not changed.
void best_candidates(const torch::Tensor& logits, std::span<const std::int64_t> never_emitted,
                     std::span<const Exclusion> excluded, std::int64_t best,
                     std::span<Candidate> candidates);

}  // namespace dragoman
