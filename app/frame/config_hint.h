// A hint for a line of a configuration file that is no TOML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// `; texts stand in quotes: max-time = "30s"`; empty where there is no hint. The line is UTF-8.
std::string config_hint(std::string_view line, const std::vector<Field>& fields);

}  // namespace dragoman
