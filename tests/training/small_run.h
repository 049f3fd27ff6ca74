// What the tests of training share: a very small model with batches, an observer that keeps what a
// run says, a run without text, and whole runs on a small corpus.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/packed_batch.h"
#include "extras/sample/sample_corpus.h"
#include "model/file/model_config.h"
#include "tests/folder_test.h"
#include "tests/tokenizer/sample_text.h"
#include "training/trainer.h"

namespace dragoman {

/// A very small model.
inline ModelConfig small_config(double dropout) {
  ModelConfig config = ModelConfig::from_preset(Preset::Tiny);
  config.d_model = 32;
  config.heads = 2;
  config.d_ff = 64;
  config.encoder_layers = config.decoder_layers = 2;
  config.source_vocabulary = config.target_vocabulary = 50;
  config.dropout = config.attention_dropout = config.activation_dropout = dropout;
  return config;
}

/// Sentences of 3 to 11 tokens, each a function of its number.
inline PackedBatch batch_of(const std::vector<std::int64_t>& sentences) {
  PackedBatch batch;
  batch.source.starts = batch.target.starts = {0};
  for (const std::int64_t sentence : sentences) {
    RandomStream random(11, static_cast<std::uint64_t>(sentence));
    for (PackedSide* side : {&batch.source, &batch.target}) {
      const auto length = 2 + random.below(9);
      for (std::uint64_t i = 0; i < length; ++i)
        side->tokens.push_back(static_cast<TokenId>(3 + random.below(47)));
      side->tokens.push_back(2);
      side->starts.push_back(static_cast<std::int32_t>(side->tokens.size()));
    }
    batch.sentences.push_back(sentence);
  }
  return batch;
}

/// Keeps what a run says.
struct RecordingObserver : TrainingObserver {
  void updated(const ProgressRecord& progress, double, const Outlook&) override {
    if (after_update) after_update(progress.update);
  }
  void logged(const UpdateFacts& facts, const ProgressRecord&) override {
    logged_updates.push_back(facts.update);
  }
  void validated(const ValidationFacts& facts) override {
    validated_updates.push_back(facts.update);
    if (facts.new_best) best_updates.push_back(facts.update);
  }
  void noticed(const std::string& text) override { notices.push_back(text); }
  void warned(const std::string& text) override { warnings.push_back(text); }

  std::function<void(std::int64_t)> after_update;
  std::vector<std::int64_t> logged_updates, validated_updates, best_updates;
  std::vector<std::string> notices, warnings;
};

/// A run without text, whose model is set by hand: for the files that a run leaves.
class RunWithoutText : public FolderTest {
 protected:
  RunWithoutText() {
    create_folders(run.folder.checkpoints());
    run.config.save_every = 100;
    run.config.keep_last = 2;
  }

  std::set<std::string> checkpoints() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(run.folder.checkpoints()))
      names.insert(entry.path().stem());
    return names;
  }
  /// Every weight of the model in the file, which are all the same.
  double weight_in(const std::filesystem::path& path) const {
    const auto weights = load_flat_weights(path, FlatLayout(run.model), torch::kCPU);
    const double weight = weights.max().item<double>();
    EXPECT_TRUE((weights.eq(weight) | weights.eq(0)).all().item<bool>()) << path;
    return weight;
  }

  static PreparedData prepared() {
    static const auto tokenizer = std::make_shared<const Tokenizer>(
        train_on(sample_text(100), TokenizerConfig{.vocab_size = 300}));
    PreparedData data;
    data.tokenizers = {tokenizer, tokenizer};
    return data;
  }

  const PreparedData data = prepared();
  TrainingRun run{.config = {},
                  .model = small_config(0),
                  .precision = Precision::Fp32,
                  .device = torch::kCPU,
                  .folder = {folder},
                  .attachments = {.tokenizer_source = "pieces"},
                  .data = data,
                  .threads = 1,
                  .start = {.machine = {.precision = "fp32", .threads = "1", .processor = "here"}}};
  TrainingModel model{run.model, {}, Precision::Fp32, torch::kCPU, 1};
  RecordingObserver observer;
  RunLog log{run.folder, observer};
  ProgressRecord progress;
};

/// Runs of a very small model on 300 pairs of the sample corpus, in folders of their own.
class SmallRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ =
        new std::filesystem::path(testing::TempDir() + "small_run-" + std::to_string(getpid()));
    std::filesystem::create_directories(*folder_);
    write_sample_corpus(
        make_sample_corpus({.seed = 1, .train_pairs = 300, .valid_pairs = 10, .test_pairs = 10}),
        *folder_);
    data_ = new PreparedData(prepare(data_config()));
  }
  static void TearDownTestSuite() {
    delete data_;
    std::filesystem::remove_all(*folder_);
    delete folder_;
  }

  static DataConfig data_config() {
    const auto text = [](const char* name) {
      return std::vector<std::string>{(*folder_ / name).string()};
    };
    DataConfig data;
    data.train_source = text("train.en");
    data.train_target = text("train.de");
    data.valid_source = text("valid.en");
    data.valid_target = text("valid.de");
    data.valid_fraction = 0;
    return data;
  }
  static PreparedData prepare(const DataConfig& data) {
    TokenizerConfig tokenizer;
    tokenizer.vocab_size = 320;
    return prepare_data(
        {.data = data, .tokenizer = tokenizer, .cache_folder = *folder_ / "cache", .threads = 1});
  }

  /// A run of six updates, each over two batches.
  static TrainingRun run_in(const std::string& name, const PreparedData& data = *data_) {
    TrainConfig config;
    config.apply_preset(Preset::Tiny);
    config.lr = 5e-3;
    config.scheduler = LrScheduler::InverseSqrt;
    config.warmup_updates = 1000;
    config.valid_every = 500;
    config.output = *folder_ / name;
    config.max_tokens = 300;
    config.update_freq = 2;
    config.max_updates = 6;
    config.log_every = 1;
    ModelConfig model = ModelConfig::from_preset(Preset::Tiny);
    model.d_model = 32;
    model.heads = 2;
    model.d_ff = 64;
    model.encoder_layers = model.decoder_layers = 1;
    model.source_vocabulary = model.target_vocabulary = data.tokenizers.source->size();
    return {.config = config,
            .model = model,
            .precision = Precision::Fp32,
            .device = torch::kCPU,
            .folder = {config.output},
            .attachments = {.tokenizer_source = data.tokenizers.source->model_bytes(),
                            .tokenizer_target = data.tokenizers.target->model_bytes()},
            .data = data,
            .threads = 1,
            .start = {.machine = {.precision = "fp32", .threads = "1", .processor = "here"},
                      .file_hashes = data.file_hashes}};
  }

  /// Continues from the newest checkpoint in the run's folder, if one is there.
  StopReason train(const TrainingRun& run, RecordingObserver& observer, std::stop_token stop = {}) {
    const auto found = find_checkpoint_to_resume(
        run.folder, [](const std::string& damage) { ADD_FAILURE() << damage; });
    Trainer trainer(run, alone_, observer);
    if (found) trainer.resume(*found);
    const StopReason reason = trainer.train(std::move(stop));
    progress_ = trainer.progress();
    return reason;
  }

  static torch::Tensor weights_at(const TrainingRun& run, std::int64_t update) {
    return load_flat_weights(run.folder.at_update(update), FlatLayout(run.model), torch::kCPU);
  }

  static inline std::filesystem::path* folder_ = nullptr;
  static inline PreparedData* data_ = nullptr;
  Communicator alone_{RankInfo{}, 60};
  ProgressRecord progress_;  // of the last run
};

}  // namespace dragoman
