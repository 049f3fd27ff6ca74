// Amounts as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace dragoman {

/// "63,082,496".
std::string with_separators(std::int64_t number);

/// "59 s" is "0:59"; then "12:34", "3:12:34", "2d 03:12".
std::string duration_text(double seconds);

}  // namespace dragoman
