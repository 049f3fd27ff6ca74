#include "data/random_batch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace dragoman {
namespace {

constexpr RandomText kText{.vocabulary = 50, .length = 12, .spread = 4, .batch_tokens = 300};

TEST(RandomBatch, SentencesOfTheLengthsAskedForFillTheBudget) {
  const PackedBatch batch = random_batch(kText, 1, 0);
  for (const PackedSide& side : {batch.source, batch.target}) {
    EXPECT_LE(side.size(), kText.batch_tokens);
    EXPECT_GT(side.size(), kText.batch_tokens - kText.length - kText.spread);
    ASSERT_EQ(side.sentences(), static_cast<std::int64_t>(batch.sentences.size()));
    for (std::int64_t i = 0; i < side.sentences(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      const std::int32_t length = side.starts[at + 1] - side.starts[at];
      EXPECT_GE(length, kText.length - kText.spread);
      EXPECT_LE(length, kText.length + kText.spread);
    }
    const auto [least, most] = std::minmax_element(side.tokens.begin(), side.tokens.end());
    EXPECT_GE(*least, 3);
    EXPECT_LT(*most, kText.vocabulary);
  }
}

TEST(RandomBatch, ABatchIsAFunctionOfSeedAndNumber) {
  EXPECT_EQ(random_batch(kText, 1, 7).source.tokens, random_batch(kText, 1, 7).source.tokens);
  EXPECT_NE(random_batch(kText, 1, 7).source.tokens, random_batch(kText, 1, 8).source.tokens);
  EXPECT_NE(random_batch(kText, 1, 7).source.tokens, random_batch(kText, 2, 7).source.tokens);
}

}  // namespace
}  // namespace dragoman
