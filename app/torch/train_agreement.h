// What ranks that train together must have alike; said at the start, with the rank that differs.
#pragma once

#include <map>
#include <string>

#include "app/torch/run_settings.h"
#include "training/ranks/communicator.h"
#include "training/training_run.h"

namespace dragoman {

/// Versions, and the text of every field but those that each host may have otherwise. Throws Error
/// or UsageError.
void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks);

/// All ranks recall what the checkpoint that rank 0 has found remembers; each host keeps what it
/// may have otherwise.
bool share_recalled(RunSettings& settings, const std::optional<FoundCheckpoint>& found,
                    Communicator& ranks);
/// All ranks have what rank 0 has chosen.
void share_settings(RunSettings& settings, Communicator& ranks);

/// The hosts' files may differ where their names do not. Throws Error; warns of unlike processors.
void require_same_data(const TrainingRun& run, Communicator& ranks);

}  // namespace dragoman
