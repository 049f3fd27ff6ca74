// The tables of the training page: the results of each run, and the settings that differ. There is
// a row for each fact and a column for each run.
#pragma once

#include <string>
#include <vector>

#include "extras/report/training_page.h"

namespace dragoman {

std::string summary_table(const std::vector<PlottedRun>& runs);

/// First the settings that differ between the runs with known settings, then all settings, folded.
std::string settings_tables(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
