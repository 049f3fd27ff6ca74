// A batch in parts that fit into memory, one behind the other, and each part in shares for threads,
// side by side. Gradients are sums over sentences, so the update is the same for any partition.
// Parts and shares are views: no token moves.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch_view.h"

namespace dragoman {

struct BatchPart {
  BatchView whole;
  std::vector<BatchView> shares;  ///< make up the whole
};

struct PartitionConfig {
  std::int64_t part_tokens = 0;  ///< the most of a part's larger side; 0: the batch is one part
  std::int64_t threads = 1;      ///< the most shares of a part
};

/// The batch is halved by sentences again and again, until no part of more than one sentence has
/// more than part_tokens. The shares of a part have about the same number of tokens, both sides
/// together, and at least some hundreds.
std::vector<BatchPart> partition(const PackedBatch& batch, const PartitionConfig& config);

}  // namespace dragoman
