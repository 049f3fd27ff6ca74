// What the ranks of a run have in common, and how they come to it. All ranks make the same calls;
// where one rank is alone, they cost nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "training/progress_record.h"
#include "training/ranks/communicator.h"
#include "training/training_model.h"

namespace dragoman {

/// All ranks get rank 0's weights, moments and progress record. A token budget that a rank has
/// already lowered stays its own: memory may differ.
void share_state(Communicator& ranks, TrainingModel& model, ProgressRecord& progress);

/// Rank 0 works; then all ranks have its answer and its progress record, but for the token budget.
bool by_leader(Communicator& ranks, ProgressRecord& progress, const std::function<bool()>& work);

BatchLoss sum_over_ranks(Communicator& ranks, const BatchLoss& sums);

struct Agreement {
  bool stop = false;   ///< some rank is asked to
  double seconds = 0;  ///< of the run so far: the mean of the ranks' clocks
};
/// Throws Error where the ranks have not left out as many updates.
Agreement agree(Communicator& ranks, bool stop_requested, double seconds, std::int64_t left_out);

}  // namespace dragoman
