// The flags of dragoman train.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/frame/command.h"
#include "training/start/run_config.h"
#include "training/start/settled_run.h"

namespace dragoman {

struct RunMode {
  bool plan = false;

  template <class Visit>
  void for_each_field(Visit&& visit) {
    visit({.name = "plan",
           .help = "only print the memory, speed, time and disk space that the run would take; "
                   "changes nothing",
           .group = "Run",
           .aliases = "dry-run"},
          plan);
  }
};

struct TrainOptions {
  RunMode mode;  // belongs to the call, so no checkpoint has it
  RunConfig config;
  std::shared_ptr<Invocation> invocation = std::make_shared<Invocation>();

  /// The fields of the command line: those of a checkpoint, which also take "auto" for numbers and
  /// choices, and the mode.
  std::vector<Field> fields();
  /// Makes the preset's values the defaults.
  void apply_preset(const GivenValues& given);
  /// Once the command line has been read.
  RunRequest request();
};

}  // namespace dragoman
