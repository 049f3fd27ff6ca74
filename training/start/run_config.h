// The configuration of a run, which its checkpoints remember: training, model, data, tokenizer.
#pragma once

#include <vector>

#include "base/fields.h"
#include "data/data_config.h"
#include "model/file/model_config.h"
#include "tokenizer/train_tokenizer.h"
#include "training/train_config.h"

namespace dragoman {

struct RunConfig {
  TrainConfig train;
  ModelConfig model;
  DataConfig data;
  TokenizerConfig tokenizer;

  /// The preset's values, and the defaults of the rest.
  static RunConfig from_preset(Preset preset);

  /// They refer to this configuration.
  std::vector<Field> fields();
  /// Throws UsageError naming the flag.
  void check() const;
};

}  // namespace dragoman
