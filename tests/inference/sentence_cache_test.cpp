#include "inference/sentence_cache.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace dragoman {
namespace {

constexpr std::int64_t kMany = 1 << 20;

std::vector<Hypothesis> hypotheses_of(TokenId token) {
  return {{.tokens = {token},
           .length = 2,
           .sum = -1,
           .score = -0.5,
           .log_probabilities = {-0.25F, -0.75F}}};
}

std::shared_ptr<const SearchSettings> settings() {
  return std::make_shared<const SearchSettings>();
}

SentenceCache::Key key(std::shared_ptr<const SearchSettings> settings, TokenId token) {
  return {.settings = std::move(settings), .has_attention = false, .tokens = {token, 1}};
}

TEST(SentenceCache, ASentenceWithTheSameSettingsAttentionAndTokensIsFound) {
  SentenceCache cache(kMany);
  const auto known = settings();
  cache.keep(key(known, 7), hypotheses_of(70));
  cache.keep(key(known, 8), hypotheses_of(80));
  const auto found = cache.find(key(known, 7));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->front().tokens, std::vector<TokenId>{70});
  EXPECT_EQ(found->front().log_probabilities, (std::vector<float>{-0.25F, -0.75F}));
  EXPECT_FALSE(cache.find(key(known, 9)));
  EXPECT_FALSE(cache.find(key(settings(), 7)));
  SentenceCache::Key with_attention = key(known, 7);
  with_attention.has_attention = true;
  EXPECT_FALSE(cache.find(with_attention));
  EXPECT_EQ(cache.counts().found, 1);
  EXPECT_EQ(cache.counts().missed, 3);
}

TEST(SentenceCache, SentencesThatWereNotAskedForLongestMakeRoom) {
  SentenceCache cache(20'000);
  const auto known = settings();
  cache.keep(key(known, 0), hypotheses_of(0));
  for (TokenId token = 1; token < 1000; ++token) {
    cache.keep(key(known, token), hypotheses_of(token));
    EXPECT_LE(cache.counts().bytes, 20'000);
    ASSERT_TRUE(cache.find(key(known, 0))) << "it is asked for each time";
    ASSERT_TRUE(cache.find(key(known, token)));
  }
  EXPECT_FALSE(cache.find(key(known, 1)));
  EXPECT_TRUE(cache.find(key(known, 990)));
  EXPECT_GT(cache.counts().bytes, 15'000);
}

TEST(SentenceCache, ASentenceThatIsKnownOrTooLargeIsNotKeptAgain) {
  SentenceCache cache(20'000);
  const auto known = settings();
  cache.keep(key(known, 7), hypotheses_of(70));
  const std::int64_t bytes = cache.counts().bytes;
  cache.keep(key(known, 7), hypotheses_of(71));
  EXPECT_EQ(cache.counts().bytes, bytes);
  std::vector<Hypothesis> large = hypotheses_of(80);
  large.front().attention.resize(1000);
  cache.keep(key(known, 8), large);
  EXPECT_FALSE(cache.find(key(known, 8)));
}

TEST(SentenceCache, ASearchThatDependsOnMoreHasNoKey) {
  const SentenceCache cache(kMany), none(0);
  const auto sentence_of = [](const std::shared_ptr<const SearchSettings>& of) {
    return SourceSentence{.line = 0, .part = 0, .tokens = {7, 1}, .settings = of};
  };
  const SourceSentence plain = sentence_of(settings());
  EXPECT_TRUE(cache.key_of(plain));
  EXPECT_FALSE(none.key_of(plain));
  EXPECT_FALSE(cache.key_of(sentence_of(std::make_shared<const SearchSettings>(
      SearchSettings{.config = {.sampling = true}, .tokens = {}}))));
  SourceSentence begun = plain;
  begun.required.prefix.tokens = {5};
  EXPECT_FALSE(cache.key_of(begun));
}

}  // namespace
}  // namespace dragoman
