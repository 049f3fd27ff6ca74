// The style sheet of a page that shows runs: that of all pages, with the colours of the runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "extras/report/line_chart.h"

namespace dragoman {

/// The style sheet with colours for `runs` runs: classes run-0 (shown by the box #show-0) and
/// run-color-0, and the switches between the axes.
std::string training_style(std::size_t runs, const std::vector<XAxis>& axes);

}  // namespace dragoman
