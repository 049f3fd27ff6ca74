// config.toml of a run folder: asks for what the run was asked for, so that another run chooses the
// rest anew; what became of the rest stands in comments.
#pragma once

#include <string>

#include "training/progress_record.h"
#include "training/run_config.h"

namespace dragoman {

/// The file's text.
std::string config_toml(RunConfig config, const SettingsRecord& settings);

}  // namespace dragoman
