// The tables of the training page: what came of each run, and in what their settings differ. A row
// for each fact, a column for each run.
#pragma once

#include <string>
#include <vector>

#include "report/training_page.h"

namespace dragoman {

std::string summary_table(const std::vector<PlottedRun>& runs);

/// The settings that are not the same in all runs whose settings are known, then all settings,
/// folded.
std::string settings_tables(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
