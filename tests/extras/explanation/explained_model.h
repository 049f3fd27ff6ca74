// A small model with a tokenizer, whose translations mean nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "extras/explanation/explainer.h"
#include "tests/inference/copying_model.h"
#include "tests/model/file/small_model.h"

namespace dragoman {

inline std::shared_ptr<const CpuModel> weights_of(const SmallModel& model) {
  const ScratchFile file("explained.safetensors");
  write_model_file(file.path(), model.contents);
  return std::make_shared<CpuModel>(ModelFileReader(file.path()), ComputeType::Float32);
}

/// The weights are multiplied by `sharpness`. With 1, no token of a step is much more probable than
/// another.
inline std::shared_ptr<const CpuModel> weights_of_small_model(
    Positions positions = Positions::Sinusoidal, float sharpness = 1) {
  SmallModel model(tokenizer().size());
  ModelConfig& config = model.contents.config;
  config.positions = positions;
  config.max_positions = 30;
  model.fill();
  for (auto& values : model.values)
    for (float& value : values) value *= sharpness;
  return weights_of(model);
}

}  // namespace dragoman
