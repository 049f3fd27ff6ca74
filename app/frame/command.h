// A subcommand: its flags, gathered from configuration structs, and its function.
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

/// The origin of a value; a later one in this list overrides an earlier one.
enum class Origin { Default, Preset, ConfigFile, CommandLine };
constexpr std::array<std::string_view, 4> names_of(Origin) {
  return {"default", "preset", "configuration file", "command line"};
}

/// By field name, one entry for every field of the command.
using Origins = std::map<std::string, Origin>;
inline bool is_given(const Origins& origins, std::string_view field) {
  const auto origin = origins.find(std::string(field));
  return origin != origins.end() && origin->second != Origin::Default;
}

/// The values that were given, by field name: any number for a list, otherwise one.
using GivenValues = std::map<std::string, std::vector<std::string>>;

/// How a command was called.
struct Invocation {
  std::string command_line;  ///< quoted for a shell:  "dragoman average run/ -o 'a b'"
  Origins origins;
  GivenValues given;  ///< by flags and --config; a flag's values override the file's
};

struct Command {
  std::string name;
  std::string summary;
  std::vector<Field> fields;  ///< they point into the struct that `run` captures
  /// Names of fields whose values may also be given without a flag, in this order (inspect run/).
  /// Only the last one may be a list.
  std::vector<std::string> positionals = {};
  /// Single letters: "b" -> "beam-size". -h and -c are taken.
  std::map<std::string, std::string> short_flags = {};
  /// Called after the parse and before the given values are assigned, with these values by field.
  /// Sets defaults that depend on them (presets).
  std::function<void(const GivenValues&)> prepare = {};
  std::function<int()> run;  ///< returns the exit code
  /// A signal is how the command ends, not how it is broken off: its exit code counts.
  bool ends_by_signal = false;
  /// Names of fields that the program chooses where they are left open: "auto" in --help.
  std::vector<std::string> automatic = {};
  /// A line or two for --help, without "dragoman ".
  std::vector<std::string> examples = {};
  /// Filled before `run` where a command provides it: `run` captures it too.
  std::shared_ptr<Invocation> invocation = {};
};

}  // namespace dragoman
