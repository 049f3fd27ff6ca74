// The speed of training on this machine, measured on random sentences, since there is no tokenizer
// and no corpus yet.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <stop_token>

#include "data/random_batch.h"
#include "model/file/model_config.h"
#include "training/train_config.h"

namespace dragoman {

struct SpeedSettings {
  const ModelConfig& model;
  Precision precision;  ///< resolved
  torch::Device device;
  RandomText text;
  LossConfig loss;
  std::int64_t update_freq;  ///< batches of an update
  std::stop_token stop = {};
};

/// The speed of whole updates in target tokens a second, from a few batches after a first one that
/// is not timed. 0 where memory does not suffice. Throws PreparationStopped where a stop is
/// requested meanwhile.
double measured_speed(const SpeedSettings& settings);

}  // namespace dragoman
