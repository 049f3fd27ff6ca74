// config.toml of a run folder. It has the settings that the run was asked for, so that another run
// can choose the others anew. The settings that the run chose stand in comments.
#pragma once

#include <string>
#include <string_view>

#include "training/progress_record.h"
#include "training/start/run_config.h"

namespace dragoman {

/// The file's text.
std::string config_toml(RunConfig config, const SettingsRecord& settings);

/// Whether a text is such a file.
bool is_config_of_a_run(std::string_view text);

}  // namespace dragoman
