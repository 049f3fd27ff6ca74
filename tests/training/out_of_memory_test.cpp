// A run whose memory runs out goes on in parts, and so does the same run when it is resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "data/sample/sample_corpus.h"
#include "tests/training/failing_allocator.h"
#include "training/resume.h"
#include "training/trainer.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Observer : TrainingObserver {
  void updated(const ProgressRecord& progress, double, const Outlook&) override {
    if (after_update) after_update(progress.update);
  }
  void logged(const UpdateFacts&, const ProgressRecord&) override {}
  void validated(const ValidationFacts&) override {}
  void noticed(const std::string&) override {}
  void warned(const std::string& text) override { warnings.push_back(text); }

  std::function<void(std::int64_t)> after_update;
  std::vector<std::string> warnings;
};

class OutOfMemory : public testing::Test {
 protected:
  OutOfMemory() {
    std::filesystem::create_directories(folder_);
    write_sample_corpus(
        make_sample_corpus({.seed = 1, .train_pairs = 300, .valid_pairs = 10, .test_pairs = 10}),
        folder_);
    const auto text = [this](const char* name) {
      return std::vector<std::string>{(folder_ / name).string()};
    };
    DataConfig data;
    data.train_source = text("train.en");
    data.train_target = text("train.de");
    data.valid_fraction = 0;
    TokenizerConfig tokenizer;
    tokenizer.vocab_size = 320;
    data_ = prepare_data(
        {.data = data, .tokenizer = tokenizer, .cache_folder = folder_ / "cache", .threads = 1});
  }
  ~OutOfMemory() override { std::filesystem::remove_all(folder_); }

  TrainingRun run_in(const std::string& name) const {
    TrainConfig config;
    config.apply_preset(Preset::Tiny);
    config.output = folder_ / name;
    config.max_tokens = 300;
    config.update_freq = 2;
    config.max_updates = 6;
    config.log_every = 1;
    ModelConfig model = ModelConfig::from_preset(Preset::Tiny);
    model.d_model = 32;
    model.heads = 2;
    model.d_ff = 64;
    model.encoder_layers = model.decoder_layers = 1;
    model.source_vocabulary = model.target_vocabulary = data_.tokenizers.source->size();
    return {.config = config,
            .model = model,
            .precision = Precision::Fp32,
            .device = torch::kCPU,
            .folder = {config.output},
            .origin = {.tokenizer_source = data_.tokenizers.source->model_bytes(),
                       .tokenizer_target = {},
                       .provenance = {}},
            .data = data_,
            .settings = {},
            .threads = "1",
            .processor = "here"};
  }

  static torch::Tensor last_weights(const TrainingRun& run) {
    return load_flat_weights(run.folder.at_update(6), FlatLayout(run.model), torch::kCPU);
  }

  const std::filesystem::path folder_ =
      testing::TempDir() + "out_of_memory_test-" + std::to_string(getpid());
  PreparedData data_;
  Communicator alone_{RankPlace{}, 60};
};

TEST_F(OutOfMemory, TheRunGoesOnInPartsAndSaysSoOnce) {
  Observer quiet;
  Trainer(run_in("whole"), alone_, quiet).train({});
  EXPECT_THAT(quiet.warnings, ElementsAre());

  Observer observer;
  FailingAllocator allocator;
  observer.after_update = [&](std::int64_t update) {
    if (update == 3) allocator.fails_at = allocator.blocks + 60;  // in the fourth
  };
  Trainer trainer(run_in("split"), alone_, observer);
  trainer.train({});
  EXPECT_THAT(observer.warnings, ElementsAre(HasSubstr("update 4: memory has run out")));
  EXPECT_GT(trainer.progress().token_budget, 0);
  EXPECT_LE(trainer.progress().token_budget, 150);
  const auto whole = last_weights(run_in("whole")), split = last_weights(run_in("split"));
  EXPECT_LT((whole - split).norm().item<double>(), 1e-4 * whole.norm().item<double>());
}

TEST_F(OutOfMemory, TheLowerBudgetIsSavedBeforeItActs) {
  Observer observer;
  FailingAllocator allocator;
  observer.after_update = [&](std::int64_t update) {
    if (update == 3) allocator.fails_at = allocator.blocks + 60;
    if (update != 4) return;
    std::filesystem::create_directories(folder_ / "resumed/checkpoints");
    std::filesystem::copy(folder_ / "split/checkpoints/latest.safetensors",
                          folder_ / "resumed/checkpoints/latest.safetensors");
  };
  Trainer(run_in("split"), alone_, observer).train({});

  const auto found = find_checkpoint({folder_ / "resumed"}, [](const std::string&) { FAIL(); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->progress.update, 3);
  EXPECT_GT(found->progress.token_budget, 0);
  Observer quiet;
  Trainer resumed(run_in("resumed"), alone_, quiet);
  resumed.resume(*found);
  resumed.train({});
  EXPECT_TRUE(torch::equal(last_weights(run_in("split")), last_weights(run_in("resumed"))));
}

}  // namespace
}  // namespace dragoman
