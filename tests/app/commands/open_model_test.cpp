#include "app/commands/open_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/inference/search/table_engine.h"
#include "tests/model/file/small_model.h"
#include "tests/names.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::ThrowsMessage;

/// Stands in for the engine on a GPU.
std::unique_ptr<Engine> gpu_engine(const EngineChoice& choice,
                                   std::span<const ModelFileReader> files,
                                   const std::vector<TokenId>&) {
  EXPECT_EQ(choice.device, "cuda:1");
  EXPECT_EQ(choice.compute_type, ComputeType::Float16);
  if (files.size() > 2) throw Error(files.size(), " models");
  return std::make_unique<TableEngine>(small_tokenizer().size(), nullptr);
}

TEST(OpenTranslator, OnAGpuThereIsOneEngineOfTheChosenNumberType) {
  SmallModel model(small_tokenizer().size());
  model.contents.tokenizer_source = small_tokenizer().model_bytes();
  const ScratchFile file("on_gpu.safetensors");
  write_model_file(file.path(), model.contents);
  EngineChoice choice;
  choice.device = "cuda:1";
  choice.compute_type = ComputeType::Float16;
  const std::string path = file.path().string();
  for (const std::vector<std::string>& models : {std::vector{path}, {path, path}}) {
    const OpenedTranslator opened = open_translator(models, choice, gpu_engine);
    EXPECT_NE(opened.device_engine, nullptr);
    EXPECT_TRUE(opened.engines.empty());
    EXPECT_EQ(opened.weights, nullptr);
  }
  EXPECT_THAT(
      [&] {
        open_translator({path, path, path}, choice, gpu_engine);
      },
      ThrowsMessage<Error>("3 models"))
      << "all models go to one engine";
  choice.device = "cpu";
  EXPECT_THAT([&] { open_translator({file.path().string()}, choice, no_device_engine); },
              ThrowsMessage<UsageError>(Names("--compute-type float16 ... GPU")));
}

TEST(SearchWith, TheModelsBeamIsAsWideAsTheNBestNeed) {
  const DecodeDefaults defaults = {{"beam-size", "2"}};
  const Origins given = {{"beam-size", Origin::CommandLine}};
  EXPECT_EQ(search_with({}, {}, defaults).beam_size, 2);
  EXPECT_EQ(search_with({.n_best = 5}, {}, defaults).beam_size, 5);
  EXPECT_THROW(search_with({.beam_size = 2, .n_best = 5}, given, defaults), UsageError);
}

TEST(OpenTranslator, GraphsAreRefusedOnTheCpu) {
  EngineChoice choice;
  choice.device_graph = true;
  EXPECT_THAT([&] { no_device_engine(choice, {}, {}); },
              ThrowsMessage<UsageError>(Names("--device-graph ... GPU")));
}

TEST(OpenTranslator, AnEnsembleHasTheCommonRecordOfItsModels) {
  const ScratchFile first("first.safetensors"), second("second.safetensors");
  SmallModel model(small_tokenizer().size());
  model.contents.tokenizer_source = small_tokenizer().model_bytes();
  Provenance& provenance = model.contents.provenance;
  provenance.several_sentences = 0.5;
  provenance.characters.emplace().source.add_all("ab");
  write_model_file(first.path(), model.contents);
  const TextRecord one = provenance;
  provenance.several_sentences = 0.25;
  provenance.copied_fractions = {{"number", 0.25}};
  provenance.characters.emplace().source.add_all("bc");
  write_model_file(second.path(), model.contents);
  const TextRecord two = provenance;
  EngineChoice choice;
  choice.threads = 1;
  const auto record = [&choice](const std::vector<std::string>& models) {
    return open_translator(models, choice, no_device_engine).record;
  };
  EXPECT_EQ(record({second.path().string()}), two);
  EXPECT_EQ(record({first.path().string(), second.path().string()}), common_record(one, two));
  EXPECT_NE(common_record(one, two), one);
}

}  // namespace
}  // namespace dragoman
