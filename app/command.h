// A subcommand: its flags, gathered from configuration structs, and what it runs. Each lives in its
// own file and is listed in main.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"

namespace dragoman {

struct Command {
  std::string name;
  std::string summary;
  std::vector<Field> fields;  ///< of the configuration that `run` has captured
  /// Names of list fields that may also be given without a flag, in order (inspect run/).
  std::vector<std::string> positionals = {};
  /// Single letters: "b" -> "beam-size".
  std::map<std::string, std::string> short_flags = {};
  /// Called between the parse and the assignment of given values, with the values given for each
  /// field, to set defaults that depend on them (presets).
  std::function<void(const std::map<std::string, std::vector<std::string>>&)> prepare = {};
  std::function<int()> run;  ///< returns the exit code
};

Command sample_command();
Command train_command();
Command translate_command();
Command evaluate_command();
Command score_command();
Command average_command();
Command inspect_command();

}  // namespace dragoman
