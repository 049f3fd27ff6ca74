// train --plan: the memory, speed, time and disk space that a run would take, for people.
#pragma once

#include "app/torch/train_options.h"
#include "training/ranks/rank_info.h"

namespace dragoman {

/// Prints the plan of a run of `info.size` ranks, from this process alone. Writes nothing into the
/// run folder.
void plan(const TrainOptions& options, const RankInfo& info);

}  // namespace dragoman
