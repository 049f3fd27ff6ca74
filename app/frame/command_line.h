// Fills configuration structs from a command line: default < preset < --config FILE < command line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "app/frame/command.h"
#include "app/frame/log.h"

namespace dragoman {

/// The flags that every command has.
struct CommonConfig {
  std::string config;
  bool quiet = false;
  LogFormat log_format = LogFormat::Text;
  bool help = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "config",
           .help = "TOML file with values for flags; flags on the command line override it",
           .group = "Common",
           .placeholder = "FILE"},
          config);
    visit({.name = "quiet", .help = "only warnings and errors on stderr", .group = "Common"},
          quiet);
    visit({.name = "log-format",
           .help = "messages as text for people, or as one JSON object per line",
           .group = "Common"},
          log_format);
    visit({.name = "help", .help = "this text", .group = "Common"}, help);
  }
};

/// The names of fields, and the alias that was typed for each.
using Aliases = std::map<std::string, std::string>;

/// The parts of a command line that are no values of the command's own fields.
struct Call {
  CommonConfig common;
  std::vector<std::string> warnings;  ///< to be logged once the log is configured
  Aliases typed;
};

/// `--preset: ...` becomes `--arch (here --preset): ...` where the user typed --arch.
std::string with_typed_flag(const std::string& message, const Aliases& typed);

/// Sets the command's configuration from the arguments behind its name, and fills its invocation,
/// which names the program. A list takes every value after its flag and may be repeated. Of another
/// field the last value counts, with a warning where an earlier one differs. With --help only the
/// defaults (of the given preset) are set. Throws UsageError that names the flag, or file, line and
/// key. One error names all unknown flags, each with the flag that may have been meant.
Call configure(std::string_view program, const Command& command,
               const std::vector<std::string>& arguments);

}  // namespace dragoman
