// A model of untrained weights, for the tests of translation, and files to score. Its translations
// mean nothing, but line i of the output translates line i of the input.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/files.h"
#include "tests/model/file/small_model.h"
#include "tests/system/process.h"
#include "tests/system/small_tokenizer.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {

/// The unfinished outputs in a folder.
inline std::vector<std::filesystem::path> parts_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> parts;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".part") parts.push_back(entry.path());
  return parts;
}

/// Waits until an unfinished output has a line, or the output is there; a minute at most.
inline void wait_for_kept_line(const std::filesystem::path& output) {
  for (int waits = 0; waits < 60'000 && !std::filesystem::exists(output); ++waits) {
    const auto parts = parts_in(output.parent_path());
    if (!parts.empty() && std::filesystem::file_size(parts[0]) > 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

class Translate : public testing::Test {
 protected:
  static void SetUpTestSuite() { tokenizer_ = train_small_tokenizer(); }

  Translate() { write_model("model.safetensors", 1); }

  /// Weights times `sharpness`. `seen`: the characters of the source that the model has seen.
  void write_model(const std::string& name, float sharpness, std::string_view seen = {}) {
    SmallModel model(Tokenizer(tokenizer_, "tokenizer").size());
    model.contents.tokenizer_source = tokenizer_;
    if (!seen.empty()) model.contents.provenance.characters.emplace().source.add_all(seen);
    for (auto& values : model.values)
      for (float& value : values) value *= sharpness;
    write_model_file(folder_ / name, model.contents);
  }

  std::vector<std::string> words(std::vector<std::string> more = {}) const {
    std::vector<std::string> result = {"translate", "-m", folder_.path(), "--max-length", "6"};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }

  static inline std::string tokenizer_;
  TemporaryFolder folder_;
};

/// Translations of three lines, and their reference.
class ScoredFiles : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const auto path = folder_ / name;
    write_file(path, text);
    return path.string();
  }

  TemporaryFolder folder_;
  const std::string reference_ = file("ref", "a cat sat\nthe dog is here\nnothing\n");
  const std::string good_ = file("good", "a cat sat\nthe dog was here\nnothing\n");
  const std::string bad_ = file("bad", "the cats\na dog\n\n");
};

inline const std::string kInput("the cat sat\n\n \t\r\nmat number 7\xff\r\n\0the mat\nno line end",
                                52);

}  // namespace dragoman
