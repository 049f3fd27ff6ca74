// The updates that the device works on. The host gives a device several updates before it reads
// the result of the first, as each answer costs a wait.
#pragma once

#include <cstdint>
#include <vector>

#include "data/batch_stream.h"
#include "training/device_loss.h"
#include "training/training_model.h"

namespace dragoman {

/// An update whose result the host has not read.
struct LaunchedUpdate {
  DeviceLoss loss;  ///< of all ranks
  StepResult step;
  std::vector<std::int64_t> sentences;  ///< of this rank
  DataPosition position;                ///< of the batch after it
};

struct UpdateResult {
  BatchLoss loss;
  double gradient_norm = 0;  ///< before clipping
  bool made = false;         ///< else it was left out
};

/// Waits for the device once.
std::vector<UpdateResult> read_results(const std::vector<LaunchedUpdate>& updates);

}  // namespace dragoman
