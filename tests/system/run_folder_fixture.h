// A run folder with untrained weights, for the tests of inspect, average and score.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "tests/model/file/small_model.h"
#include "tests/system/process.h"
#include "tests/system/small_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// A run folder: a model and two checkpoints.
class RunFolderTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { tokenizer_ = train_small_tokenizer(); }

  RunFolderTest() {
    const std::int64_t pieces = Tokenizer(tokenizer_, "tokenizer").size();
    SmallModel model(pieces);
    model.contents.tokenizer_source = tokenizer_;
    model.contents.provenance.seed = 77;
    model.contents.provenance.data = {{"training-text", "43e27dd8153ea544"}};
    write_model_file(run_ / "model.safetensors", model.contents);
    std::filesystem::create_directory(run_ / "checkpoints");
    model.make_checkpoint();
    for (const char* name : {"update-00000010.safetensors", "update-00000020.safetensors"})
      write_model_file(run_ / "checkpoints" / name, model.contents);
  }

  /// Writes model files that cannot be read; their names, with words of the message for each.
  std::vector<std::pair<std::string, std::string>> write_unreadable_files() const {
    const std::string bytes = read_file(model());
    write_file(run_ / "short.safetensors", bytes.substr(0, bytes.size() / 2));
    write_file(run_ / "text.safetensors", "these are not tensors");
    return {{run_ / "short.safetensors", "truncated"},
            {run_ / "text.safetensors", "not a safetensors file"},
            {run_ / "none.safetensors", "no such"}};
  }

  /// Writes the model with a bit of its weights changed.
  std::string write_damaged_file() const {
    std::string bytes = read_file(model());
    bytes[bytes.size() - 3] ^= 4;
    write_file(run_ / "flipped.safetensors", bytes);
    return run_ / "flipped.safetensors";
  }

  std::string model() const { return run_ / "model.safetensors"; }

  static inline std::string tokenizer_;
  TemporaryFolder run_;
};

}  // namespace dragoman
