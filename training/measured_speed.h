// How fast a model learns on this machine, measured on random sentences: before there are a
// tokenizer and a corpus.
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
  std::int64_t update_freq;  ///< batches of an update
  std::stop_token stop = {};
};

/// Target tokens a second, of whole updates, from a few batches of which the first does not count;
/// 0 where memory does not suffice. PreparationStopped where a stop is requested meanwhile.
double measured_speed(const SpeedSettings& settings);

}  // namespace dragoman
