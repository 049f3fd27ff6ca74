// train --plan: the memory, disk space and time that a run will take.
#pragma once

#include <cstdint>

#include "training/outlook.h"
#include "training/start/trial.h"

namespace dragoman {

/// Bytes.
struct MemoryPlan {
  std::int64_t weights = 0;       ///< fp32, and their moving average with --ema
  std::int64_t moments = 0;       ///< of Adam
  std::int64_t gradients = 0;     ///< their sum, and those of each thread
  std::int64_t compute_copy = 0;  ///< the weights in bf16
  std::int64_t logits = 0;        ///< of a chunk of the loss
  std::int64_t activations = 0;   ///< and all other memory of the largest batch, as measured

  std::int64_t total() const {
    return weights + moments + gradients + compute_copy + logits + activations;
  }
};

struct RunPlan {
  std::int64_t parameters = 0;
  MemoryPlan memory;
  BatchCost usual, longest;
  double updates_per_epoch = 0;
  double seconds_per_update = 0;
  Outlook outlook;                    ///< before the first update, without validations
  std::int64_t checkpoint_bytes = 0;  ///< of one
  std::int64_t disk_bytes = 0;  ///< of all that are there at once, and the models; no token cache
};

RunPlan plan_run(const TrialSettings& settings);

}  // namespace dragoman
