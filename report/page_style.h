// The style sheet of all pages, and the script of the training page.
#pragma once

#include <cstddef>
#include <string>

namespace dragoman {

/// With colours for so many runs or systems: classes run-0 (shown by the box #show-0, where a page
/// has one) and run-color-0.
std::string page_style(std::size_t runs);

/// Shows the values under the pointer; all else works without it.
std::string training_script();

}  // namespace dragoman
