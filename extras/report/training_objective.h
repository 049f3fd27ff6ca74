// The terms of the training loss in a run's log, by the run's settings (train's --label-smoothing,
// --r-drop and --guided-alignment).
#pragma once

#include <string>
#include <vector>

#include "extras/report/training_page.h"

namespace dragoman {

/// "label smoothing 0.1, R-Drop 5 (without its divergence)"; "no label smoothing, so the same as
/// nll". Empty where the settings are not known.
std::string training_objective(const RunHistory& run);

/// The objective of all runs where it is the same. Otherwise the names of the runs with each
/// objective, and a note that the curves cannot be compared.
std::string training_objectives(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
