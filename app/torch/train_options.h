// What dragoman train may be told.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/command.h"
#include "training/run_config.h"
#include "training/run_start.h"

namespace dragoman {

struct RunMode {
  bool plan = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "plan",
           .help = "only say what the run would take: memory, speed, time, disk; changes nothing",
           .group = "Run",
           .aliases = "dry-run"},
          plan);
  }
};

struct TrainOptions {
  RunMode mode;  // of the call, not of the run: no checkpoint remembers it
  RunConfig config;
  std::shared_ptr<Invocation> invocation = std::make_shared<Invocation>();

  /// What the command line may say: all that a run remembers, "auto" for numbers and choices, and
  /// the mode.
  std::vector<Field> fields();
  /// The preset's values become the defaults.
  void apply_preset(const std::map<std::string, std::vector<std::string>>& given);
  /// Once the command line has been read.
  RunRequest request();
};

/// Throws UsageError where there is no such preset.
Preset parse_preset(const std::string& name);

}  // namespace dragoman
