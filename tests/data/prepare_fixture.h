// Fixtures of the tests of prepare_data(): texts, settings and the cache folder.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "data/prepare.h"
#include "tests/folder_test.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

class PrepareTest : public FolderTest {
 protected:
  PrepareTest() {
    tokenizer.vocab_size = 320;
    data.valid_fraction = 0;
  }
  /// Sets the training text; line i of the target is that of the source, marked.
  void set_text(const std::vector<std::string>& source) {
    std::vector<std::string> target;
    for (const std::string& line : source) target.push_back(line.empty() ? "" : "das " + line);
    set_text(source, target);
  }
  void set_text(const std::vector<std::string>& source, const std::vector<std::string>& target) {
    const auto join = [](const std::vector<std::string>& lines) {
      std::string text;
      for (const std::string& line : lines) text += line + "\n";
      return text;
    };
    data.train_source = {write("a.en", join(source))};
    data.train_target = {write("a.de", join(target))};
  }
  /// For tests to which the pieces do not matter: none is trained.
  void give_tokenizer() {
    tokenizer.source_model = write("small.model", small_tokenizer().model_bytes());
  }
  PreparedData prepare(int threads = 2) const { return prepare_data(preparation(threads)); }
  Preparation preparation(int threads = 2) const {
    return {.data = data,
            .tokenizer = tokenizer,
            .cache_folder = folder / "corpus",
            .threads = threads};
  }
  /// The only file in the cache folder whose name starts so.
  std::filesystem::path cache_file(const std::string& prefix,
                                   const std::string& cache = "corpus") const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder / cache))
      if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? "" : found[0];
  }
  static std::set<std::int64_t> lines_of(const Corpus& corpus) {
    std::set<std::int64_t> lines;
    for (std::int64_t i = 0; i < corpus.pairs(); ++i) lines.insert(corpus.line(i));
    return lines;
  }
  static void expect_adds_up(const CorpusReport& r) {
    EXPECT_EQ(r.read, r.kept + r.held_out + r.in_validation + r.invalid + r.empty + r.duplicates +
                          r.too_long + r.ratio);
  }

  DataConfig data;
  TokenizerConfig tokenizer;
};

/// Two files of a toy language, the second with a tag. Each target is "das" and the source, word
/// for word.
class ToyCorpora : public FolderTest {
 protected:
  explicit ToyCorpora(int lines) {
    for (const std::string name : {"a", "b"}) {
      std::string source, target;
      for (const std::string& line : sample_text(lines)) {
        source += line + "\n";
        target += "das " + line + "\n";
      }
      data.train_source.push_back(write(name + ".en", source));
      data.train_target.push_back(write(name + ".de", target));
    }
    data.corpus_tags = {"", "<bt>"};
    data.keep_duplicates = true;
    data.valid_fraction = 0;
    tokenizer.vocab_size = 400;
    tokenizer.type = TokenizerType::Bpe;
  }
  PreparedData prepare(int threads = 0) const {
    return prepare_data({.data = data,
                         .tokenizer = tokenizer,
                         .cache_folder = folder / "corpus",
                         .threads = threads});
  }

  DataConfig data;
  TokenizerConfig tokenizer;
};

}  // namespace dragoman
