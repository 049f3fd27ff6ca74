// The scripts by which bash, zsh and fish complete a program's command lines. Bash: "Programmable
// Completion" of its manual; zsh: _arguments and _describe of zshcompsys(1); fish: complete(1).
#pragma once

#include <string>
#include <vector>

#include "app/frame/program.h"

namespace dragoman {

/// The script for a shell: commands, their flags, the values of choices, and files where a flag
/// takes one. Throws UsageError for another shell than bash, zsh and fish.
std::string completion_script(const Program& program, const std::vector<Command>& commands,
                              const std::string& shell);

}  // namespace dragoman
