// The texts of --help.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command.h"
#include "app/frame/program.h"

namespace dragoman {

/// The commands with one line each, and an example of the first steps.
std::string overview(const Program& program, const std::vector<Command>& commands);

/// All flags of a command in their groups, with the defaults that its fields hold; at most 96
/// columns.
std::string command_help(std::string_view program, const Command& command);

}  // namespace dragoman
