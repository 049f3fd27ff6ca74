// One page about training runs: curves, a summary, sample translations over time, and differences
// of the configurations. It needs no network and no script. Its script shows the values of the
// curves.
#pragma once

#include <string>
#include <vector>

#include "extras/report/run_history.h"

namespace dragoman {

struct PlottedRun {
  std::string name;
  RunHistory history;            ///< not empty
  std::string explanation = {};  ///< the page of `dragoman explain` about the sentence of its
                                 ///< attention, seen from this page; empty: none
};

/// The HTML of a page for one run or more.
std::string training_page(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
