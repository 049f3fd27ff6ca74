#include <gmock/gmock.h>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"
#include "tokenizer/tokenizer.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

/// Words of a made language, with signs that normalisation would change.
const std::vector<std::string> kWords = {"10⁴",
                                         "m²",
                                         "½",
                                         "می\u200Cروم",
                                         "فارسی",
                                         "ａｂ１",
                                         "ｶﾞ",
                                         "日本語",
                                         "क\u094Dष",
                                         "❤\uFE0F",
                                         "a\u0323\u0302",
                                         "a\u0302\u0323",
                                         "ﬁn",
                                         "two  blanks",
                                         "non\u00A0break",
                                         "▁mark▁",
                                         "<s>",
                                         "</s>",
                                         "™",
                                         "…"};

class TrainFidelity : public Train {
 protected:
  /// Word i of the made language translates "word" and i.
  static void write_text(int lines) {
    std::string source, target;
    RandomStream random(11);
    for (int line = 0; line < lines; ++line)
      for (int word = 0; word < 3; ++word) {
        const std::uint64_t i = random.below(kWords.size());
        const char* end = word == 2 ? "\n" : " ";
        source += "word" + std::to_string(i) + end;
        target += kWords[i] + end;
      }
    write_file(path("words.en"), source);
    write_file(path("words.xx"), target);
  }

  /// Training on that text, which is also the validation text, on one thread.
  static std::vector<std::string> train_on_words(const std::string& run_folder,
                                                 const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train",     "-o", path(run_folder), "--preset", "tiny",
                                      "--threads", "1",  "--vocab-size",   "400"};
    for (const char* part : {"train", "valid"})
      words.insert(words.end(), {join_text("--", part, "-src"), path("words.en"),
                                 join_text("--", part, "-tgt"), path("words.xx")});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(TrainFidelity, WhatIsTaughtIsWrittenByteForByte) {
  write_text(200);
  train(train_on_words(
      "exact", split("--d-model 64 --d-ff 128 --heads 4 --encoder-layers 2 --decoder-layers 2 "
                     "--dropout 0.1 --lr 2e-3 --augment-join 0 --keep-duplicates "
                     "--max-tokens 1000 --max-updates 700 --valid-every 300 --best-metric loss")));
  // Greedy, since a beam may prefer a shorter line than the one that was taught.
  const auto translated =
      run({"translate", "-m", path("exact"), "--threads", "1", "--beam-size", "1"},
          read_file(path("words.en")), kLimit);
  EXPECT_EQ(translated.output, read_file(path("words.xx"))) << translated.errors;

  const auto inspected = run({"inspect", path("exact")});
  EXPECT_THAT(inspected.output, HasSubstr("target tokenizer"));
  const ModelFileReader model(path("exact/model.safetensors"));
  const Tokenizer source(std::string(model.tokenizer_source()), "source");
  const Tokenizer target(std::string(model.tokenizer_target()), "target");
  EXPECT_EQ(source.facts().pieces_hash, target.facts().pieces_hash);
  EXPECT_EQ(model.config().tying, Tying::ThreeWay);
}

TEST_F(TrainFidelity, AGivenTokenizerThatChangesTheTargetIsNamed) {
  write_text(50);
  auto words = command("normalised", {"--target-normalization", "nmt_nfkc", "--max-updates", "1"});
  train(words);
  const ModelFileReader model(path("normalised/model.safetensors"));
  EXPECT_FALSE(model.has_two_tokenizers());
  const auto evaluated = run({"evaluate", "-m", path("normalised"), "--src", path("words.en"),
                              "--ref", path("words.xx"), "--max-length", "20"},
                             "", kLimit);
  EXPECT_THAT(evaluated.errors, Names("50 reference lines"));
  write_file(path("nfkc.model"), model.tokenizer_source());
  const auto given = run({"train", "-o", path("given"), "--train-src", path("words.en"),
                          "--train-tgt", path("words.xx"), "--preset", "tiny", "--tokenizer",
                          path("nfkc.model"), "--max-updates", "1"},
                         "", kLimit);
  EXPECT_THAT(given.errors, Names("tokenizer ... changes"));
  EXPECT_THAT(given.errors, HasSubstr("words.xx:"));
}

}  // namespace
}  // namespace dragoman
