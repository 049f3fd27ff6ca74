#include "tokenizer/train_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TokenizerConfig of_type(TokenizerType type, std::int64_t vocab_size) {
  return {.vocab_size = vocab_size, .type = type};
}

constexpr TokenizerType kTypes[] = {TokenizerType::Unigram, TokenizerType::Bpe};

TEST(TrainTokenizer, AnyOrderOfLinesGivesTheSameBytes) {
  auto lines = sample_text(300);
  for (const auto type : kTypes) {
    const auto first = train_tokenizer(views(lines), of_type(type, 400));
    std::vector<std::string> shuffled = lines;
    RandomStream(1).shuffle(shuffled);
    ASSERT_NE(shuffled, lines);
    EXPECT_TRUE(train_tokenizer(views(shuffled), of_type(type, 400)).model_bytes ==
                first.model_bytes);
  }
}

TEST(TrainTokenizer, TheSampleIsChosenByContentNotByOrder) {
  auto lines = sample_text(1000);
  TokenizerConfig config{.vocab_size = 350, .sample_lines = 100};
  const auto first = train_tokenizer(views(lines), config);
  RandomStream(2).shuffle(lines);
  EXPECT_TRUE(train_tokenizer(views(lines), config).model_bytes == first.model_bytes);
  config.sample_lines = 1000;
  EXPECT_FALSE(train_tokenizer(views(lines), config).model_bytes == first.model_bytes);
}

TEST(TrainTokenizer, TheSampleIsTakenFromTheWholeText) {
  std::vector<std::string> lines(500, "aardvark ");
  lines.insert(lines.end(), 500, "zebra ");
  for (std::size_t i = 0; i < lines.size(); ++i) lines[i] += std::to_string(i);
  const Tokenizer tokenizer =
      train_on(lines, {.vocab_size = 320, .type = TokenizerType::Bpe, .sample_lines = 100});
  EXPECT_LE(tokenizer.encode("aardvark").size(), 3u);
  EXPECT_LE(tokenizer.encode("zebra").size(), 3u);
}

TEST(TrainTokenizer, TheTokenizerHasAsManyPiecesAsAskedFor) {
  const auto lines = sample_text(400);
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 330));
    EXPECT_EQ(trained.vocab_size, 330);
    EXPECT_EQ(Tokenizer(trained.model_bytes, "trained").size(), 330);
    EXPECT_EQ(trained.character_coverage, 1.0);
  }
}

TEST(TrainTokenizer, TheVocabularyIsSmallerWhereTheTextAllowsFewerPieces) {
  const auto lines = sample_text(20);
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 32'000));
    EXPECT_LT(trained.vocab_size, 1000);
    EXPECT_EQ(Tokenizer(trained.model_bytes, "trained").size(), trained.vocab_size);
  }
}

TEST(TrainTokenizer, RareCharactersAreLeftToBytesWhereTheVocabularyIsTooSmall) {
  std::vector<std::string> lines = sample_text(2000);
  for (char32_t c = 0x4E00; c < 0x4E00 + 100; ++c) lines.push_back(to_utf8({&c, 1}));
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(views(lines), of_type(type, 320));
    EXPECT_LT(trained.character_coverage, 1.0);
    const Tokenizer tokenizer(trained.model_bytes, "trained");
    EXPECT_EQ(tokenizer.size(), 320);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("一丁 blue")), "一丁 blue");
  }
}

TEST(TrainTokenizer, AnErrorSaysHowManyPiecesAreNeededAtLeast) {
  try {
    train_tokenizer(views(sample_text(100)), {.vocab_size = 265});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--vocab-size 265"));
    EXPECT_THAT(error.what(), HasSubstr("at least 2"));
  }
}

TEST(TrainTokenizer, TextWithoutCharactersIsAnErrorAndNoCrash) {
  for (const std::vector<std::string>& lines : {std::vector<std::string>{},
                                                {""},
                                                {" ", "\t"},
                                                {"\u00A0\u3000"},
                                                {"\x01\x02"},
                                                {"▁▁"},
                                                {"▅"},
                                                {"▅ ▁", "\u00A0"}})
    for (const auto type : kTypes)
      EXPECT_THROW(train_tokenizer(views(lines), of_type(type, 300)), Error);
}

TEST(TrainTokenizer, TheSmallestTextsAreEnough) {
  for (const std::string line : {"a", "ab", "a a", "漢", "⁇ <unk> </s>", "a\tb", "▅a"})
    for (const auto type : kTypes) {
      const auto trained = train_tokenizer({line}, of_type(type, 300));
      EXPECT_GT(trained.vocab_size, 259) << line;
    }
}

TEST(TrainTokenizer, LongAndBrokenLinesDoNotHarm) {
  std::string long_word, many_words, characters;
  for (int i = 0; i < 100'000; ++i) long_word += static_cast<char>('a' + i * 7919 % 26);
  for (int i = 0; i < 20'000; ++i) many_words += i < 19'000 ? "word " : "zebra ";
  for (int i = 0; i < 10'000; ++i) characters += "漢字かな";
  for (const auto type : kTypes) {
    const auto trained = train_tokenizer(
        {long_word, many_words, characters, "\xFF\xFE", std::string_view("a\0b", 3)},
        of_type(type, 400));
    const Tokenizer tokenizer(trained.model_bytes, "trained");
    EXPECT_LE(tokenizer.encode("zebra").size(), 2u) << "the end of a long line was not seen";
  }
}

TEST(TrainTokenizer, TheNormalisedTextIsLowerCased) {
  const auto lines = sample_text(200);
  const Tokenizer plain = train_on(lines, {.vocab_size = 400});
  const Tokenizer lower = train_on(lines, {.vocab_size = 400, .lowercase = true});
  const auto normal = [](const Tokenizer& tokenizer, std::string_view text) {
    return tokenizer.decode(tokenizer.encode(text));
  };
  EXPECT_EQ(normal(lower, "Die STRASSE und die Straße"), "die strasse und die straße");
  EXPECT_EQ(normal(lower, "École, E\u0301cole, ÉCOLE"), "école, école, école");
  EXPECT_EQ(normal(lower, "\u1EBE E\u0302\u0301 \u00CA\u0301"), "\u1EBF \u1EBF \u1EBF");
  EXPECT_EQ(normal(lower, "ΑΘΉΝΑ İ ǅ Ⅷ ＡＢ ℌ ﬃ"), "αθήνα i̇ dž viii ab h ffi");

  RandomStream random(3);
  for (int i = 0; i < 2000; ++i) {
    std::u32string characters;
    for (int n = 0; n < 8; ++n) {
      const auto c = static_cast<char32_t>(1 + random.below(i % 2 == 0 ? 0x600 : 0x1FFFF));
      // A mark behind a raised letter is not joined with what the letter becomes; whether a Σ (or
      // Ϲ) ends a word is not looked at.
      if (!(c >= 0xD800 && c < 0xE000) && !(c >= 0x2B0 && c < 0x300) && c != 0x3A3 && c != 0x3F9)
        characters += c;
    }
    const std::string text = to_utf8(characters);
    EXPECT_EQ(normal(lower, text), lower_case(normal(plain, text))) << text;
  }
}

TEST(TrainTokenizer, UserSymbolsKeepTheirCase) {
  const Tokenizer lower =
      train_on(sample_text(200), {.vocab_size = 400, .lowercase = true, .user_symbols = {"<URL>"}});
  EXPECT_EQ(lower.decode(lower.encode("See <URL> AND <url>")), "see <URL> and <url>");
}

TEST(TrainTokenizer, NothingIsPrinted) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  train_tokenizer(views(sample_text(50)), {.vocab_size = 32'000});
  EXPECT_THAT(testing::internal::GetCapturedStderr(), IsEmpty());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), IsEmpty());
}

TEST(TokenizerConfig, ValuesThatSentencePieceWouldRefuseAreRefusedByTheNameOfTheFlag) {
  const auto message = [](const TokenizerConfig& config) -> std::string {
    try {
      config.check();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_EQ(message({.user_symbols = {"<2de>"}}), "");
  EXPECT_THAT(message({.vocab_size = 259}), HasSubstr("--vocab-size 259"));
  EXPECT_THAT(message({.character_coverage = 0.5}), HasSubstr("--character-coverage"));
  EXPECT_THAT(message({.user_symbols = {"a", "a"}}), HasSubstr("--user-symbols a"));
  EXPECT_THAT(message({.user_symbols = {"<0x41>"}}), HasSubstr("--user-symbols <0x41>"));
  EXPECT_THAT(message({.user_symbols = {"<s>"}}), HasSubstr("--user-symbols <s>"));
  EXPECT_THAT(message({.user_symbols = {""}}), HasSubstr("--user-symbols"));
  EXPECT_THAT(message({.user_symbols = {"\xFF"}}), HasSubstr("--user-symbols"));
  EXPECT_THAT(message({.sample_lines = 0}), HasSubstr("--tokenizer-lines"));
  EXPECT_THAT(message({.target_model = "x"}), HasSubstr("--target-tokenizer"));
}

}  // namespace
}  // namespace dragoman
