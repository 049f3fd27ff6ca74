// What dragoman and dragoman-lite differ in. Each has its main() and what else is its own in a
// folder of app/; the commands of app/ itself see no LibTorch and belong to both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command.h"

namespace dragoman {

struct Program {
  std::string_view name;
  std::string_view summary;  ///< of two lines at most
  std::string_view example;  ///< lines of commands
  std::vector<Command> (*commands)();
  /// The libraries that decide what it can do, for --version: lines, or nothing.
  std::string (*libraries)();
};

/// All of main(): finds the subcommand, configures it, runs it, and turns what went wrong into one
/// line and an exit code (docs/design.md, section 6).
int run_program(const Program& program, int argc, char** argv);

}  // namespace dragoman
