// The style sheet of all pages, and the additional one of a page about runs.
#pragma once

#include <cstddef>
#include <string>

namespace dragoman {

/// The style sheet with colours for `runs` runs: classes run-0 (shown by the box #show-0) and
/// run-color-0, and the switches between the axes.
std::string training_style(std::size_t runs);

}  // namespace dragoman
