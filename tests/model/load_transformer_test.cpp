#include "model/load_transformer.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

void write(const std::filesystem::path& path, Transformer& model) {
  ModelContents contents;
  contents.config = model->config;
  contents.tokenizer_source = "none";
  for (const auto& item : model->named_parameters())
    contents.parameters.push_back(
        {item.key(), Dtype::F32, item.value().sizes().vec(), item.value().const_data_ptr()});
  write_model_file(path, contents);
}

/// With every option that adds parameters.
ModelConfig full_config() {
  ModelConfig config;
  config.d_model = 8;
  config.heads = 2;
  config.d_ff = 12;
  config.encoder_layers = 1;
  config.decoder_layers = 2;
  config.norm = NormPosition::Before;
  config.activation = Activation::GatedGelu;
  config.positions = Positions::Learned;
  config.max_positions = 5;
  config.tying = Tying::None;
  config.output_bias = true;
  config.source_vocabulary = 9;
  config.target_vocabulary = 7;
  return config;
}

TEST(LoadTransformer, TheLoadedModelIsTheOneThatWasWritten) {
  for (const Tying tying : {Tying::ThreeWay, Tying::TwoWay, Tying::None}) {
    ModelConfig config = full_config();
    config.tying = tying;
    if (tying == Tying::ThreeWay) config.target_vocabulary = config.source_vocabulary;
    Transformer model(config);
    model->initialize(3);
    const ScratchFile file("transformer.safetensors");
    write(file.path(), model);
    auto loaded = load_transformer(ModelFileReader(file.path()), torch::kCPU);
    const auto expected = model->named_parameters();
    ASSERT_EQ(loaded->named_parameters().size(), expected.size());
    for (const auto& item : loaded->named_parameters()) {
      EXPECT_TRUE(item.value().equal(*expected.find(item.key()))) << item.key();
      EXPECT_FALSE(item.value().requires_grad());
    }
  }
}

}  // namespace
}  // namespace dragoman
