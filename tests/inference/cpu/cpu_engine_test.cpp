#include "inference/cpu/cpu_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "inference/torch/torch_engine.h"
#include "tests/inference/random_rows.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

/// The models of all engines' tests, and one of each other activation.
std::vector<ModelConfig> all_configs() {
  std::vector<ModelConfig> all = configs();
  for (const Activation activation :
       {Activation::Gelu, Activation::Swish, Activation::GatedSwish}) {
    all.push_back(all.front());
    all.back().activation = activation;
    all.back().tying = Tying::TwoWay;
  }
  return all;
}

std::shared_ptr<const CpuModel> packed(const Transformer& model, ComputeType type) {
  ModelContents contents;
  contents.config = model->config;
  contents.tokenizer_source = "pretend tokenizer";
  for (const auto& item : model->named_parameters())
    contents.parameters.push_back(
        {item.key(), Dtype::F32, item.value().sizes().vec(), item.value().const_data_ptr<float>()});
  const ScratchFile file("cpu_model.safetensors");
  write_model_file(file.path(), contents);
  return std::make_shared<CpuModel>(ModelFileReader(file.path()), type);
}

TEST(CpuEngine, StepByStepIsTheWholeSequenceWhateverHappensToRows) {
  for (const ModelConfig& config : all_configs()) {
    Transformer model = make_model(config, torch::kCPU);
    CpuEngine engine(packed(model, ComputeType::Float32), {});
    expect_random_rows_score_as_whole_sequences(engine, model);
  }
}

TEST(CpuEngine, CandidatesAreThoseOfTheModuleTree) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  CpuEngine cpu(packed(model, ComputeType::Float32), {5, 7});
  TorchEngine torch(model, {5, 7});
  std::vector<std::vector<Candidate>> found;
  for (const std::int64_t best : {std::int64_t{1}, std::int64_t{4}, kVocabulary})
    for (Engine* engine : {static_cast<Engine*>(&cpu), static_cast<Engine*>(&torch)}) {
      const auto slots = engine->admit(sentences(2, 8));
      const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
      engine->select(rows);
      found.push_back(step(*engine, {kEos, kEos}, best, {{1, kEos}}));
      engine->release(slots);
      if (engine == &cpu) continue;
      const auto &ours = found[found.size() - 2], &expected = found.back();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(ours[i].token, expected[i].token);
        if (std::isinf(expected[i].log_probability))
          EXPECT_EQ(ours[i].log_probability, expected[i].log_probability);
        else
          EXPECT_NEAR(ours[i].log_probability, expected[i].log_probability, 1e-5);
      }
    }
}

TEST(CpuEngine, TranslationsAreTheSameBitsForAnyBatchSizeAndOrder) {
  for (const ModelConfig& model_config : configs())
    for (const ComputeType type : {ComputeType::Float32, ComputeType::Int8}) {
      Transformer model = make_model(model_config, torch::kCPU);
      const auto weights = packed(model, type);
      auto waiting = waiting_sentences(20, 12);
      for (const std::int64_t beam : {1, 4}) {
        DecodeConfig config{.beam_size = beam};
        config.max_length = 25;
        config.batch_size = 1;
        CpuEngine one(weights, {0, 1});
        const Results alone = search(one, config, waiting);
        for (const std::int64_t rows : {7, 500}) {
          config.batch_size = rows;
          RandomStream(5, rows).shuffle(waiting);
          CpuEngine many(weights, {0, 1});
          EXPECT_EQ(search(many, config, waiting), alone);
        }
      }
    }
}

// Longer than what a cache and a packed attention first have room for.
TEST(CpuEngine, LongSentencesAreThoseOfTheModuleTree) {
  Transformer model = make_model(configs()[0], torch::kCPU);
  CpuEngine cpu(packed(model, ComputeType::Float32), {0, 1});
  TorchEngine torch(model, {0, 1});
  auto waiting = waiting_sentences(3, 40);
  waiting[1].tokens.assign(700, 9);
  waiting[1].tokens.back() = kEos;
  DecodeConfig config{.beam_size = 3, .min_length = 180, .max_length_ratio = 300};
  config.max_length = 200;
  const Results ours = search(cpu, config, waiting), expected = search(torch, config, waiting);
  for (const auto& [line, result] : expected) {
    EXPECT_EQ(ours.at(line).first, result.first);
    EXPECT_NEAR(ours.at(line).second, result.second, 1e-4);
    EXPECT_GE(result.first.size(), 179U);
  }
}

TEST(CpuEngine, Int8IsNearTheWeightsThatItRounds) {
  for (const ModelConfig& config : configs()) {
    Transformer model = make_model(config, torch::kCPU);
    CpuEngine exact(packed(model, ComputeType::Float32), {}),
        rounded(packed(model, ComputeType::Int8), {});
    std::vector<std::vector<Candidate>> found;
    for (Engine* engine : {&exact, &rounded}) {
      const auto slots = engine->admit(sentences(2, 8));
      const std::vector<RowOrigin> rows = {{-1, slots[0]}, {-1, slots[1]}};
      engine->select(rows);
      found.push_back(step(*engine, {kEos, kEos}, kVocabulary));
    }
    double difference = 0;
    for (std::size_t i = 0; i < found[0].size(); ++i)
      difference = std::max(difference, std::abs(static_cast<double>(found[0][i].log_probability -
                                                                     found[1][i].log_probability)));
    EXPECT_LT(difference, 0.1);
    EXPECT_GT(difference, 0);
  }
}

}  // namespace
}  // namespace dragoman
