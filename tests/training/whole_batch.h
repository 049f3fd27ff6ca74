// The gradient of a whole batch, for tests of a TrainingModel.
#pragma once

#include "data/packed_batch.h"
#include "training/training_model.h"

namespace dragoman {

/// TrainingModel::accumulate() of a batch that is divided among the model's threads.
inline DeviceLoss accumulate(TrainingModel& model, const PackedBatch& batch, const LossConfig& loss,
                             std::int64_t update) {
  return model.accumulate(partition(batch, {.threads = model.threads()}).front().shares, loss,
                          update);
}

}  // namespace dragoman
