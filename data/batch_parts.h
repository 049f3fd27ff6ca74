// A batch in parts, for threads side by side or where memory does not suffice for the whole:
// gradients are sums over sentences, so that the update is the same for any split.
#pragma once

#include <cstdint>
#include <vector>

#include "data/packed_batch.h"

namespace dragoman {

/// The larger side's tokens: what a budget bounds.
std::int64_t largest_side(const PackedBatch& batch);

/// The batch halved by sentences, and halved again, until no part with more than one sentence has
/// more than `budget` tokens on a side; 0: no bound.
std::vector<PackedBatch> parts_of(const PackedBatch& batch, std::int64_t budget);

/// The batch in `count` parts of about as many tokens, both sides together; fewer where there are
/// not so many sentences.
std::vector<PackedBatch> equal_parts_of(const PackedBatch& batch, std::int64_t count);

}  // namespace dragoman
