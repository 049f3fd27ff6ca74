// Checks at the start that all ranks have the same settings and text; an error names the rank that
// differs.
#pragma once

#include <map>
#include <string>

#include "training/ranks/communicator.h"
#include "training/training_run.h"

namespace dragoman {

/// Compares the versions, and the values of all fields except those that may differ from host to
/// host. Throws Error or UsageError.
void require_same_configuration(const std::map<std::string, std::string>& configuration,
                                Communicator& ranks);

/// Compares the texts of all hosts, which may differ although the names of the files are the same.
/// Throws Error; warns of unlike processors.
void require_same_data(const TrainingRun& run, Communicator& ranks);

}  // namespace dragoman
