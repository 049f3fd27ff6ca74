// Splits a batch into smaller ones, for several threads, or where memory does not suffice for the
// whole. Gradients are sums over sentences, so the update is the same for any split.
#pragma once

#include <cstdint>
#include <vector>

#include "data/packed_batch.h"

namespace dragoman {

/// The number of tokens of the larger side, which a budget bounds.
std::int64_t largest_side(const PackedBatch& batch);

/// The batch, halved by sentences again and again until no part of more than one sentence has more
/// than `budget` tokens on a side. 0: no bound.
std::vector<PackedBatch> parts_of(const PackedBatch& batch, std::int64_t budget);

/// The batch in `count` parts with about the same number of tokens, both sides together. There are
/// fewer parts where the batch has fewer sentences.
std::vector<PackedBatch> equal_parts_of(const PackedBatch& batch, std::int64_t count);

}  // namespace dragoman
