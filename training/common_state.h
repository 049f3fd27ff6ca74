// Keeps the ranks of a run in the same state: weights, progress and decisions. All ranks make the
// same calls in the same order. With one rank nothing is sent.
#pragma once

#include <cstdint>
#include <functional>

#include "training/progress_record.h"
#include "training/ranks/communicator.h"
#include "training/training_model.h"

namespace dragoman {

/// All ranks get rank 0's weights, moments and progress record. The part_tokens that a rank
/// has already lowered stay its own: memory may differ.
void share_state(Communicator& ranks, TrainingModel& model, ProgressRecord& progress);

/// Calls work() on rank 0 alone. Then all ranks return its answer and have its progress record;
/// each keeps its own part_tokens.
bool on_rank_0(Communicator& ranks, ProgressRecord& progress, const std::function<bool()>& work);

DeviceLoss sum_over_ranks(Communicator& ranks, DeviceLoss loss);

struct StopAndClock {
  bool stop = false;   ///< a stop was requested on some rank
  double seconds = 0;  ///< of the run so far: the mean of the ranks' clocks
};
StopAndClock stop_and_clock_of_all(Communicator& ranks, bool stop_requested, double seconds);

}  // namespace dragoman
