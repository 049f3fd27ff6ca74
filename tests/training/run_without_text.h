// A run without text, whose model is set by hand: for the files that a run leaves.
#pragma once

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/data/text_files.h"
#include "tests/tokenizer/sample_text.h"
#include "tests/training/recording_observer.h"
#include "tests/training/small_batches.h"
#include "training/run_log.h"
#include "training/training_run.h"

namespace dragoman {

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
                  .attachments = {.tokenizer_source = "pieces",
                                  .tokenizer_target = {},
                                  .provenance = {},
                                  .decode_defaults = {}},
                  .data = data,
                  .threads = 1,
                  .start = {.machine = {.precision = "fp32", .threads = "1", .processor = "here"},
                            .file_hashes = {},
                            .settings = {}}};
  TrainingModel model{run.model, {}, Precision::Fp32, torch::kCPU, 1};
  RecordingObserver observer;
  RunLog log{run.folder, observer};
  ProgressRecord progress;
};

}  // namespace dragoman
