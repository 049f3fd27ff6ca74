// The curves of the training page: one drawing for each number of the log and each axis.
#pragma once

#include <string>
#include <vector>

#include "extras/report/line_chart.h"
#include "extras/report/training_page.h"

namespace dragoman {

/// The axes that the logs have numbers for: updates, tokens, time.
std::vector<XAxis> training_axes(const std::vector<PlottedRun>& runs);

std::string training_charts(const std::vector<PlottedRun>& runs, const std::vector<XAxis>& axes);

/// A short section of the run's line with its mark, as SVG.
std::string legend_mark(std::size_t run);

/// The numbers behind the drawings as JSON in a <script>, for the page's own script.
std::string chart_data(const std::vector<PlottedRun>& runs);

}  // namespace dragoman
