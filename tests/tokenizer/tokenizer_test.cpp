#include "tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "base/fields.h"
#include "base/random.h"
#include "base/utf8.h"
#include "tests/tokenizer/sample_text.h"
#include "tokenizer/train_tokenizer.h"

namespace dragoman {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class TokenizerOfEachType : public testing::TestWithParam<TokenizerType> {
 protected:
  static Tokenizer trained(TokenizerConfig config = {}) {
    config.vocab_size = 500;
    config.type = GetParam();
    return train_on(sample_text(400), config);
  }
};

INSTANTIATE_TEST_SUITE_P(Types, TokenizerOfEachType,
                         testing::Values(TokenizerType::Unigram, TokenizerType::Bpe),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(TokenizerOfEachType, SpecialIdsLieWhereEveryModelExpectsThem) {
  const Tokenizer tokenizer = trained();
  EXPECT_EQ(tokenizer.unk_id(), 0);
  EXPECT_EQ(tokenizer.bos_id(), 1);
  EXPECT_EQ(tokenizer.eos_id(), 2);
  EXPECT_EQ(tokenizer.piece(2), "</s>");
  EXPECT_EQ(tokenizer.id("</s>"), 2);
  EXPECT_EQ(tokenizer.id("no such piece"), tokenizer.unk_id());
  EXPECT_EQ(tokenizer.piece(-1), "");
  EXPECT_EQ(tokenizer.piece(static_cast<TokenId>(tokenizer.size())), "");
}

TEST_P(TokenizerOfEachType, DecodingGivesTheTextBack) {
  const Tokenizer tokenizer = trained();
  for (const std::string& line : sample_text(50))
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(line)), line);
}

TEST_P(TokenizerOfEachType, CharactersNeverSeenFallBackToBytesAndComeBack) {
  const Tokenizer tokenizer = trained();
  for (const std::string line :
       {"😀 👩‍👩‍👧‍👦 🏴", "漢字とかな", "Ωμέγα Жизнь عربي"}) {
    const auto ids = tokenizer.encode(line);
    EXPECT_THAT(ids, Not(Contains(tokenizer.unk_id()))) << line;
    EXPECT_EQ(tokenizer.decode(ids), line);
  }
}

TEST_P(TokenizerOfEachType, RandomUnicodeNeverBecomesUnknown) {
  const Tokenizer tokenizer = trained();
  RandomStream random(7);
  for (int round = 0; round < 200; ++round) {
    std::string line;
    for (int i = 0; i < 20; ++i) {
      auto c = static_cast<char32_t>(random.below(0x110000));
      if (c >= 0xD800 && c < 0xE000) c -= 0x800;
      append_utf8(line, c);
    }
    const auto ids = tokenizer.encode(line);
    EXPECT_THAT(ids, Not(Contains(tokenizer.unk_id())));
    const std::string decoded = tokenizer.decode(ids);
    EXPECT_EQ(find_invalid_utf8(decoded), std::string::npos);
    // Normalisation changes some characters. It leaves normalised text as it is.
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(decoded)), decoded);
  }
}

TEST_P(TokenizerOfEachType, BytesThatFormNoCharacterBecomeReplacementCharacters) {
  const Tokenizer tokenizer = trained();
  const std::vector<TokenId> ids = {tokenizer.id("<0xE6>"), tokenizer.id("<0xBC>"),
                                    tokenizer.id("<0x41>"), tokenizer.id("<0xFF>")};
  const std::string text = tokenizer.decode(ids);
  EXPECT_EQ(find_invalid_utf8(text), std::string::npos);
  EXPECT_THAT(text, HasSubstr("A"));
  EXPECT_TRUE(text.starts_with("\uFFFD") && text.ends_with("\uFFFD")) << text;
}

TEST_P(TokenizerOfEachType, SpecialAndForeignIdsAreLeftOutOfTheText) {
  const Tokenizer tokenizer = trained();
  std::vector<TokenId> ids = tokenizer.encode("the blue dog");
  ids.insert(ids.begin(), tokenizer.bos_id());
  ids.insert(ids.begin() + 2, {tokenizer.unk_id(), -5, 1'000'000});
  ids.push_back(tokenizer.eos_id());
  EXPECT_EQ(tokenizer.decode(ids), "the blue dog");
}

TEST_P(TokenizerOfEachType, UserSymbolsAreNeverSplit) {
  const Tokenizer tokenizer = trained({.user_symbols = {"<2de>", "a,b", "say \"hi\"", "⟦1⟧"}});
  for (const std::string symbol : {"<2de>", "a,b", "⟦1⟧"}) {
    ASSERT_NE(tokenizer.id(symbol), tokenizer.unk_id()) << symbol;
    EXPECT_THAT(tokenizer.encode("the dog" + symbol + "sees"), Contains(tokenizer.id(symbol)));
    EXPECT_EQ(tokenizer.decode(tokenizer.encode("x " + symbol + " y")), "x " + symbol + " y");
  }
}

TEST_P(TokenizerOfEachType, PiecesThatWouldBreakALineAreNeverEmitted) {
  const Tokenizer tokenizer = trained();
  const auto never = tokenizer.never_emitted();
  for (const std::string piece : {"<unk>", "<s>", "<0x00>", "<0x0A>", "<0x0D>"})
    EXPECT_THAT(never, Contains(tokenizer.id(piece))) << piece;
  EXPECT_THAT(never, Not(Contains(tokenizer.eos_id())));
  EXPECT_EQ(never.size(), 5u);
}

TEST_P(TokenizerOfEachType, InvalidUtf8AndNulAndEmptyTextDoNotHarm) {
  const Tokenizer tokenizer = trained();
  EXPECT_TRUE(tokenizer.encode("").empty());
  EXPECT_TRUE(tokenizer.encode("   ").empty());
  EXPECT_TRUE(tokenizer.encode(std::string_view()).empty());
  EXPECT_EQ(tokenizer.decode({}), "");
  EXPECT_FALSE(tokenizer.encode("a\xFF\xC3 b").empty());
  EXPECT_FALSE(tokenizer.encode(std::string_view("a\0b", 3)).empty());
  EXPECT_GT(tokenizer.encode(std::string(100'000, 'a')).size(), 100u);
}

TEST_P(TokenizerOfEachType, ManyThreadsEncodeAtOnce) {
  const Tokenizer tokenizer = trained();
  const auto lines = sample_text(50);
  std::vector<std::vector<TokenId>> expected;
  for (const auto& line : lines) expected.push_back(tokenizer.encode(line));
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (int& count : wrong)
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < lines.size(); ++i)
          count += tokenizer.encode(lines[i]) != expected[i];
      });
  }
  EXPECT_THAT(wrong, testing::Each(0));
}

TEST(Tokenizer, ATokenizerIsMadeAgainFromItsBytes) {
  const Tokenizer tokenizer = train_on(sample_text(100), {.vocab_size = 300});
  const Tokenizer again(tokenizer.model_bytes(), "again");
  EXPECT_EQ(again.encode("the blue dog"), tokenizer.encode("the blue dog"));
}

TEST(Tokenizer, BytesThatAreNotASentencePieceModelAreRefusedByName) {
  for (const std::string bytes : {"", "hello, I am no model", "\x0a\xff\xff\xff\xff"})
    EXPECT_THAT([&] { Tokenizer(bytes, "some.model"); },
                testing::ThrowsMessage<Error>(HasSubstr("some.model")))
        << bytes;
  EXPECT_THROW(Tokenizer::from_file("/no/such/file.model"), Error);
}

TEST(Tokenizer, ModelsCutShortDoNotCrash) {
  const std::string bytes = train_on(sample_text(50), {.vocab_size = 300}).model_bytes();
  for (std::size_t size = 0; size < bytes.size(); size += bytes.size() / 40) {
    try {
      Tokenizer(bytes.substr(0, size), "cut.model").encode("the blue dog");
    } catch (const Error&) {
    }
  }
}

using testing::ElementsAre;

constexpr TokenId kEos = 2;

TokenizerPair pair_of_one(bool source_eos) {
  const auto one =
      std::make_shared<const Tokenizer>(train_on(sample_text(50), {.vocab_size = 300}));
  return {.source = one, .target = one, .source_eos = source_eos};
}

TEST(TokenizerPair, SentencesAreTheirPiecesAndTheirEnds) {
  const TokenizerPair tokenizers = pair_of_one(true);
  std::vector<TokenId> expected = tokenizers.source->encode("the cat");
  ASSERT_FALSE(expected.empty());
  expected.push_back(kEos);
  EXPECT_EQ(tokenizers.source_tokens("the cat"), expected);
  EXPECT_EQ(tokenizers.target_tokens("the cat"), expected);
  EXPECT_THAT(tokenizers.source_tokens(std::vector<TokenId>{7, 8}), ElementsAre(7, 8, kEos));
  EXPECT_THAT(tokenizers.target_tokens(std::vector<TokenId>{7, 8}), ElementsAre(7, 8, kEos));
}

TEST(TokenizerPair, TheSourcesOfAModelMayHaveNoEnd) {
  const TokenizerPair tokenizers = pair_of_one(false);
  const std::vector<TokenId> pieces = tokenizers.source->encode("the cat");
  EXPECT_EQ(tokenizers.source_tokens("the cat"), pieces);
  EXPECT_EQ(tokenizers.target_tokens("the cat").size(), pieces.size() + 1);
  EXPECT_FALSE(end_ids(tokenizers).ends_source(1));
}

TEST(TokenizerPair, ASourceWithoutPiecesIsItsEnd) {
  for (const bool source_eos : {true, false})
    EXPECT_THAT(pair_of_one(source_eos).source_tokens(""), ElementsAre(kEos));
}

TEST(BytePiece, ABytePieceIsTwoHexadecimalDigits) {
  EXPECT_EQ(byte_of_piece("<0x41>"), 'A');
  EXPECT_EQ(byte_of_piece("<0xE5>"), 0xE5);
  for (const char* other : {"", "<0x4>", "<0x4g>", "<0x-1>", "<0x411>", "\u2581<0x4", "<0x41"})
    EXPECT_EQ(byte_of_piece(other), std::nullopt) << other;
}

}  // namespace
}  // namespace dragoman
