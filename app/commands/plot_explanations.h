// The pages of `dragoman explain` that plot writes beside its own page.
#pragma once

#include <string>
#include <vector>

#include "extras/report/training_page.h"

namespace dragoman {

/// For each run writes a page about the sentence whose attention its log has, with its reference,
/// and names the page in the run. A run without a model, or without attention in its log, gets
/// none. Runs have the names of their folders or logs. The pages stand in a folder beside the page
/// at the path `html`. Pages of an earlier call that are not written again are removed.
void explain_runs(std::vector<PlottedRun>& runs, const std::string& html);

}  // namespace dragoman
