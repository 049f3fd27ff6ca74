#include "tokenizer/tokenizer_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

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

}  // namespace
}  // namespace dragoman
