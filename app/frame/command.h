// A subcommand: its flags, gathered from configuration structs, and what it runs.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// Where a value came from; a later one overrides an earlier one.
enum class Origin { Default, Preset, ConfigFile, CommandLine };
constexpr std::array<std::string_view, 4> names_of(Origin) {
  return {"default", "preset", "configuration file", "command line"};
}

/// By field name, one entry for every field of the command.
using Origins = std::map<std::string, Origin>;

/// How a command was called.
struct Invocation {
  std::string command_line;  ///< as a shell would take it: "dragoman average run/ -o 'a b'"
  Origins origins;
  /// What flags and --config gave, by field name; a flag's values come before the file's.
  std::map<std::string, std::vector<std::string>> given;
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<Field> fields;  ///< of the configuration that `run` has captured
  /// Names of fields that may also be given without a flag, in order (inspect run/); of lists, only
  /// the last.
  std::vector<std::string> positionals = {};
  /// Single letters: "b" -> "beam-size". -h and -c are taken.
  std::map<std::string, std::string> short_flags = {};
  /// Called between the parse and the assignment of given values, with the values given for each
  /// field, to set defaults that depend on them (presets).
  std::function<void(const std::map<std::string, std::vector<std::string>>&)> prepare = {};
  std::function<int()> run;  ///< returns the exit code
  /// Names of fields that the program chooses where they are left open: "auto" in --help.
  std::vector<std::string> automatic = {};
  /// A line or two for --help, without "dragoman ".
  std::vector<std::string> examples = {};
  /// Filled before `run` where a command provides it: `run` captures it too.
  std::shared_ptr<Invocation> invocation = {};
};

}  // namespace dragoman
