// The input of a Trainer: settings, data, device and folder.
#pragma once

#include <torch/types.h>

#include <string>

#include "data/prepare.h"
#include "model/file/model_config.h"
#include "model/file/run_folder.h"
#include "training/checkpoint.h"
#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {

struct TrainingRun {
  TrainConfig config;
  ModelConfig model;
  Precision precision;  ///< not Auto
  torch::Device device;
  RunFolder folder;
  ModelAttachments attachments;
  const PreparedData& data;  ///< outlives the run
  int threads;               ///< on the CPU
  /// The most updates that are given to the device before the host reads their results.
  std::size_t updates_ahead = 1;
  StartRecord start;  ///< for the progress record
};

}  // namespace dragoman
