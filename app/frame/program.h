// A program: dragoman or dragoman-lite. Each has a folder of app/ for its main() and its own code.
// The commands of app/commands see no LibTorch and belong to both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command_line.h"

namespace dragoman {

struct Program {
  std::string_view name;
  std::string_view summary;  ///< a sentence
  std::string_view example;  ///< command lines; those of commands that are not built are not shown
  const std::vector<Command>& (*commands)();  ///< always the same list
  /// Lines for --version about the libraries that decide what the program can do; may be empty.
  std::string (*libraries)();
  /// Names of commands that only the other program has; may be null.
  const std::vector<std::string>& (*elsewhere)() = nullptr;
  /// Called with a command whose flags are read, before it runs. It may make the process another
  /// program. May be null.
  void (*before_run)(const Command& command) = nullptr;
};

/// The commands with one line each, and an example of the first steps; as wide as command_help().
std::string overview(const Program& program, const std::vector<Command>& commands);

/// All flags of a command in their groups, with the defaults that its fields hold; as wide as the
/// terminal, from 60 to 96 columns. 96 if standard output is none.
std::string command_help(std::string_view program, const Command& command);

/// The lines of command_help() for some flags, by name, alias or letter. Throws UsageError for a
/// name that the command does not have.
std::string flags_help(const Command& command, const std::vector<std::string>& names);

/// A flag as --help shows it.
struct FlagText {
  std::string letter;       ///< "b" of -b; empty if it has none
  std::string value;        ///< "N", "FILE..."; empty for a switch
  std::string description;  ///< with choices, default and aliases
  bool is_on = false;       ///< a switch that is on by default, which --no-NAME turns off
};
FlagText flag_text(const Command& command, const Field& field);

/// The example without the lines of commands that are not built.
std::string example_of(const Program& program, const std::vector<Command>& commands);

/// The script by which bash, zsh or fish completes command lines (completion.cpp): commands, their
/// flags, the values of choices, and files where a flag takes one. Throws UsageError for another
/// shell.
std::string completion_script(const Program& program, const std::vector<Command>& commands,
                              const std::string& shell);

/// The page of a command for man(1), or of the program itself if `command` is empty (manual.cpp).
/// Throws UsageError if there is no such command.
std::string manual_page(const Program& program, const std::vector<Command>& commands,
                        const std::string& command);

/// The body of main(): finds the subcommand, configures it and runs it. An error becomes one line
/// and an exit code (docs/design.md, section 6).
int run_program(const Program& program, int argc, char** argv);

}  // namespace dragoman
