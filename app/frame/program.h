// The differences between dragoman and dragoman-lite. Each has a folder of app/ for its main() and
// its own code. The commands of app/commands see no LibTorch and belong to both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command.h"

namespace dragoman {

struct Program {
  std::string_view name;
  std::string_view summary;  ///< of two lines at most
  std::string_view example;  ///< lines of commands; those that are not built are not shown
  std::vector<Command> (*commands)();
  /// Lines for --version about the libraries that decide what the program can do; empty for none.
  std::string (*libraries)();
  std::string_view elsewhere = "";  ///< a command that only the other program has
};

/// The body of main(): finds the subcommand, configures it and runs it. An error becomes one line
/// and an exit code (docs/design.md, section 6).
int run_program(const Program& program, int argc, char** argv);

}  // namespace dragoman
