// A hint for a line of a configuration file that is no TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// A hint such as `; texts stand in quotes: max-time = "30s"` for a line that is not TOML; ""
/// without a hint. The line must be UTF-8.
std::string config_hint(std::string_view line, const std::vector<Field>& fields);

}  // namespace dragoman
