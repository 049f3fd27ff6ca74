// The style sheet that all pages share, and that of a page about runs.
#pragma once

#include <cstddef>
#include <string>

namespace dragoman {

/// With colours for so many runs: classes run-0 (shown by the box #show-0) and run-color-0, and the
/// switches between the axes.
std::string training_style(std::size_t runs);

}  // namespace dragoman
