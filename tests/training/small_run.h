// Runs of a very small model on 300 pairs of the sample corpus, in folders of their own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "extras/sample/sample_corpus.h"
#include "tests/training/recording_observer.h"
#include "training/trainer.h"

namespace dragoman {

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

  /// Of six updates, each over two batches.
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
                            .tokenizer_target = data.tokenizers.target->model_bytes(),
                            .provenance = {},
                            .decode_defaults = {}},
            .data = data,
            .threads = 1,
            .start = {.machine = {.precision = "fp32", .threads = "1", .processor = "here"},
                      .file_hashes = data.file_hashes,
                      .settings = {}}};
  }

  /// Goes on from the newest checkpoint in the run's folder, if one is there.
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
