// A subcommand: its flags, gathered from configuration structs, and its function. configure() fills
// the structs from a command line: default < preset < --config FILE < command line.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/log.h"
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
  /// Sets the defaults that depend on them (presets).
  std::function<void(const GivenValues&)> prepare = {};
  std::function<int(const Invocation&)> run;  ///< returns the exit code
  /// A signal is the usual end of the command, so its own exit code counts.
  bool ends_by_signal = false;
  /// The command trains models, so dragoman-lite does not have it.
  bool needs_training = false;
  /// Names of fields that the program chooses if they are left open: "auto" in --help.
  std::vector<std::string> automatic = {};
  /// A line or two for --help, without "dragoman ".
  std::vector<std::string> examples = {};
};

/// The flags that every command has.
struct CommonConfig {
  std::string config;
  bool quiet = false;
  LogFormat log_format = LogFormat::Text;
  bool help = false;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Common", visit);
    field("config", config,
          "TOML file with values for flags; flags on the command line override it",
          {.aliases = "c", .placeholder = "FILE"});
    field("quiet", quiet, "only warnings and errors on stderr");
    field("log-format", log_format, "messages as text for people, or as one JSON object per line");
    field("help", help, "this text; with names of flags after it, these flags alone",
          {.aliases = "h"});
  }
};

/// The fields of a command, and those that all commands have.
std::vector<Field> all_fields(const Command& command, CommonConfig& common);

/// The names of fields, and the alias that was typed for each.
using Aliases = std::map<std::string, std::string>;

/// The parts of a command line that are not values of the command's own fields.
struct Call {
  CommonConfig common;
  std::vector<std::string> warnings;  ///< to be logged after the log is configured
  Aliases typed;
  Invocation invocation = {};  ///< not with --help
};

/// `--preset: ...` becomes `--arch (here --preset): ...` if the user typed --arch.
std::string with_typed_flag(const std::string& message, const Aliases& typed);

/// Returns what `body` returns. The message of its UsageError names the flag that was typed.
template <class Body>
auto with_typed_flags(const Aliases& typed, Body&& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    throw UsageError(with_typed_flag(error.what(), typed));
  }
}

/// Sets the command's configuration from the arguments after its name. The invocation names the
/// program. A list takes every value after its flag and may be repeated. For any other field the
/// last value counts, with a warning if an earlier one differs. With --help only the defaults (of
/// the given preset) are set. Throws UsageError that names the flag, or file, line and key. One
/// error names all unknown flags, each with the flag that may have been meant.
Call configure(std::string_view program, const Command& command,
               const std::vector<std::string>& arguments);

}  // namespace dragoman
