// The pages of a program for man(1), in the macros of man(7).
#pragma once

#include <string>
#include <vector>

#include "app/frame/program.h"

namespace dragoman {

/// The page of a command; of the program itself if `command` is empty. Throws UsageError if there
/// is no such command.
std::string manual_page(const Program& program, const std::vector<Command>& commands,
                        const std::string& command);

}  // namespace dragoman
