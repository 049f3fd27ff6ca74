// A model file's contents for tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "model/file/model_file.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {

/// A model of a few hundred parameters, and a checkpoint of it.
struct SmallModel {
  ModelContents contents;
  std::vector<std::vector<float>> values;
  std::vector<std::int64_t> moments = {1, 2, 3};

  explicit SmallModel(std::int64_t vocabulary = 9) {
    ModelConfig& config = contents.config;
    config.d_model = 4;
    config.heads = 2;
    config.d_ff = 8;
    config.encoder_layers = config.decoder_layers = 1;
    config.source_vocabulary = config.target_vocabulary = vocabulary;
    contents.tokenizer_source = "pretend tokenizer";
    contents.provenance.command = "dragoman train";
    contents.provenance.scores = {{"valid-bleu", 38.51}};
    fill();
  }

  /// Makes the parameters again after the configuration has changed.
  void fill() {
    values.clear();
    contents.parameters.clear();
    for (const auto& [name, shape] : parameter_shapes(contents.config)) {
      TensorData tensor{name, Dtype::F32, shape, nullptr};
      values.emplace_back(tensor.elements());
      for (float& value : values.back())
        value = std::cos(static_cast<float>(&value - values.back().data() + values.size()));
      tensor.data = values.back().data();
      contents.parameters.push_back(tensor);
    }
  }

  void make_checkpoint() {
    contents.training.push_back({"training.moments", Dtype::I64, {3}, moments.data()});
    contents.progress = R"({"update":12})";
  }

  std::string bytes() const {
    const ScratchFile file("bytes.safetensors");
    write_model_file(file.path(), contents);
    return read_file(file.path());
  }
};

}  // namespace dragoman
