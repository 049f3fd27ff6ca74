// One page about training runs: curves, a summary, sample translations over time, and in what the
// configurations differ. It needs no network and no script; with one, curves tell their values.
#pragma once

#include <string>
#include <vector>

#include "report/run_history.h"

namespace dragoman {

struct PlottedRun {
  std::string name;
  RunHistory history;  ///< not empty
};

/// HTML of at least one run.
std::string training_page(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
