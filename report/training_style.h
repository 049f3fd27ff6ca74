// Style sheet and script of the training page.
#pragma once

#include <cstddef>
#include <string>

namespace dragoman {

std::string training_style(std::size_t runs);

/// Shows the values under the pointer; all else works without it.
std::string training_script();

}  // namespace dragoman
