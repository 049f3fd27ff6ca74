// The settings of the objective that an update minimises. The settings of a run include it without
// LibTorch.
#pragma once

#include <cstdint>

namespace dragoman {

struct LossConfig {
  double label_smoothing = 0;
  std::int64_t chunk_tokens = 0;  ///< tokens of a chunk; 0: as many as have 2^25 logits
  /// Guided alignment, for batches that have links: the factor of its loss.
  double alignment_weight = 0;
  std::int64_t alignment_layer = 0;  ///< of the decoder, from 1; 0: the last
  std::int64_t alignment_head = 1;   ///< from 1; 0: the mean of all
};

}  // namespace dragoman
