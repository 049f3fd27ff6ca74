// What ranks that train together must have alike; said at the start, with the rank that differs.
#pragma once

#include <map>
#include <string>

#include "training/ranks/communicator.h"
#include "training/training_run.h"

namespace dragoman {

/// Versions, and the text of every field but those that each host may have otherwise. Throws Error
/// or UsageError.
void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks);

/// Rank 0's settings, on all ranks; on the others without what each host may have otherwise.
SettingsRecord share_settings(SettingsRecord settings, Communicator& ranks);

/// The hosts' files may differ where their names do not. Throws Error; warns of unlike processors.
void require_same_data(const TrainingRun& run, Communicator& ranks);

}  // namespace dragoman
