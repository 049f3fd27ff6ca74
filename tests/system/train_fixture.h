// A small corpus, a very small model and a short run, for the tests of dragoman train.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "extras/sample/sample_corpus.h"
#include "model/file/model_file.h"
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

  /// The settings that it leaves open do not depend on its length, so a run that is made longer can
  /// be compared with one that was as long from the start.
  static std::vector<std::string> command(const std::string& run_folder,
                                          const std::vector<std::string>& more = {}) {
    auto words = train_on_sample(run_folder, {"--valid-src",
                                              sample("valid.en"),
                                              "--valid-tgt",
                                              sample("valid.de"),
                                              "--vocab-size",
                                              "300",
                                              "--d-model",
                                              "32",
                                              "--heads",
                                              "2",
                                              "--d-ff",
                                              "64",
                                              "--encoder-layers",
                                              "1",
                                              "--decoder-layers",
                                              "1",
                                              "--max-tokens",
                                              "400",
                                              "--max-updates",
                                              "60",
                                              "--valid-every",
                                              "20",
                                              "--save-every",
                                              "10",
                                              "--log-every",
                                              "10",
                                              "--warmup-updates",
                                              "20",
                                              "--lr-scheduler",
                                              "inverse-sqrt",
                                              "--ema",
                                              "0",
                                              "--keep-last",
                                              "10",
                                              "--threads",
                                              "1"});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// The bytes of every parameter of a model file, one after the other.
  static std::string weights(const std::string& file) {
    const ModelFileReader reader(path(file));
    std::string bytes;
    for (const std::string& name : reader.names()) bytes += reader.tensor(name).raw();
    return bytes;
  }

  static inline TemporaryFolder* folder_ = nullptr;
};

}  // namespace dragoman
