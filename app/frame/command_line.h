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

  // Facts about the command line, no flags.
  std::vector<std::string> warnings;         ///< to be logged once the log is configured
  std::map<std::string, std::string> typed;  ///< fields by name -> the alias that was typed

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "config",
           .help = "TOML file with values for flags; flags on the command line override it",
           .group = "Common"},
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

/// "--preset: ..." as "--arch (here --preset): ..." where the flag was typed so.
std::string in_typed_words(const std::string& message,
                           const std::map<std::string, std::string>& typed);

/// Sets the command's configuration from the arguments behind its name, and fills its invocation,
/// which names the program. A
/// list takes every value after its flag and may be repeated. Of another field the last value
/// counts, with a warning where an earlier one differs. With --help only the defaults (of the given
/// preset) are set. Throws UsageError that names the flag, or file, line and key. One error names
/// all unknown flags, each with the flag that may have been meant.
CommonConfig configure(std::string_view program, const Command& command,
                       const std::vector<std::string>& arguments);

}  // namespace dragoman
