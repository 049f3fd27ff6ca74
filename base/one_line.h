// Text that stays on its line.
#pragma once

#include <string>

namespace dragoman {

/// The text with a space for each line end and NUL. A line of text has no line ends, and no
/// translation has a NUL.
std::string one_line(std::string text);

}  // namespace dragoman
