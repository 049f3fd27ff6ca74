// The pages of `dragoman explain` that plot writes beside its own page.
#pragma once

#include <string>
#include <vector>

#include "report/training_page.h"

namespace dragoman {

/// Writes a page about the sentence whose attention a run's log has, as the run's model reads it
/// with its reference, and names it in the run. A run without a model, or whose log has no
/// attention, gets none. The runs' names are those of folders or logs. Beside the page at the path
/// `html`; pages of an earlier call that are not
/// written again are removed.
void explain_runs(std::vector<PlottedRun>& runs, const std::string& html);

}  // namespace dragoman
