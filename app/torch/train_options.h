// The flags of dragoman train.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/frame/command.h"
#include "data/data_config.h"
#include "model/file/model_config.h"
#include "tokenizer/train_tokenizer.h"
#include "training/train_config.h"

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
  TrainConfig train;
  ModelConfig model;
  DataConfig data;
  TokenizerConfig tokenizer;
  std::shared_ptr<Invocation> invocation = std::make_shared<Invocation>();

  /// The fields that a checkpoint has.
  std::vector<Field> fields();
  /// The fields of the command line: those of a checkpoint, which also take "auto" for numbers and
  /// choices, and the mode.
  std::vector<Field> given_fields();
  /// Makes the preset's values the defaults.
  void apply_preset(const std::map<std::string, std::vector<std::string>>& given);
  /// Throws UsageError naming the flag.
  void validate() const;
};

}  // namespace dragoman
