// The texts of --help.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"

namespace dragoman {

/// The commands with one line each, and how to begin.
std::string overview(const std::vector<Command>& commands);

/// All flags of a command in their groups, with the defaults that its fields hold; at most 96
/// columns.
std::string command_help(const Command& command);

}  // namespace dragoman
