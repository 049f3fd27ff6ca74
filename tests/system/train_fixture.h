// A small corpus, a very small model and a short run, for the tests of dragoman train.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "extras/sample/sample_corpus.h"
#include "model/file/model_file.h"
#include "model/file/run_folder.h"
#include "tests/system/process.h"

namespace dragoman {

inline constexpr std::chrono::seconds kLimit(300);

/// A small sample corpus and a very small model that learns on it.
class Train : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    write_sample_corpus(
        make_sample_corpus({.train_pairs = 1500, .valid_pairs = 30, .test_pairs = 30}), sample(""));
  }
  static void TearDownTestSuite() { delete folder_; }

  static std::string sample(const std::string& name) {
    return (*folder_ / "sample" / name).string();
  }
  static std::string path(const std::string& name) { return (*folder_ / name).string(); }

  /// The words of `line` between its spaces.
  static std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
  }

  /// Training on the sample's training part.
  static std::vector<std::string> train_on_sample(const std::string& run_folder,
                                                  const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",
                                      "-o",
                                      path(run_folder),
                                      "--train-src",
                                      sample("train.en"),
                                      "--train-tgt",
                                      sample("train.de"),
                                      "--preset",
                                      "tiny"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// Training on the sample with its validation part, by the flags of `line`, then `more`.
  static std::vector<std::string> validated_training(const std::string& run_folder,
                                                     const std::string& line,
                                                     const std::vector<std::string>& more) {
    auto words = train_on_sample(
        run_folder, {"--valid-src", sample("valid.en"), "--valid-tgt", sample("valid.de")});
    for (const auto& flags : {split(line), more})
      words.insert(words.end(), flags.begin(), flags.end());
    return words;
  }

  /// The settings that it leaves open do not depend on its length, so a run that is made longer can
  /// be compared with one that was as long from the start.
  static std::vector<std::string> command(const std::string& run_folder,
                                          const std::vector<std::string>& more = {}) {
    return validated_training(
        run_folder,
        "--vocab-size 300 --d-model 32 --heads 2 --d-ff 64 --encoder-layers 1 --decoder-layers 1 "
        "--max-tokens 400 --max-updates 60 --valid-every 20 --save-every 10 --log-every 10 "
        "--warmup-updates 20 --lr-scheduler inverse-sqrt --ema 0 --keep-last 10 --threads 1",
        more);
  }

  /// Runs the command, which must succeed. Ends the test otherwise.
  static ProcessResult train(const std::vector<std::string>& words) {
    ProcessResult result = run(words, "", kLimit);
    if (result.exit_code != 0) throw std::runtime_error(result.errors);
    return result;
  }

  /// Takes the texts `name`.en and `name`.de instead of a part of the sample.
  static void replace_part(std::vector<std::string>& words, const std::string& part,
                           const std::string& name) {
    for (const char* side : {".en", ".de"})
      std::ranges::replace(words, sample(part + side), path(name + side));
  }

  /// The bytes of every parameter of a model file, one after the other.
  static std::string weights(const std::string& file) {
    const ModelFileReader reader(path(file));
    std::string bytes;
    for (const std::string& name : reader.names()) bytes += reader.tensor(name).raw();
    return bytes;
  }

  /// Whether the checkpoints of two runs at an update have the same weights.
  static bool same_weights(const std::string& one, const std::string& other, std::int64_t update) {
    return weights(RunFolder{one}.at_update(update)) == weights(RunFolder{other}.at_update(update));
  }

  static inline TemporaryFolder* folder_ = nullptr;
};

}  // namespace dragoman
