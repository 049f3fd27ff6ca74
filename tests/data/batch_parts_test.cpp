#include "data/batch_parts.h"

#include <gtest/gtest.h>

#include "data/batch_stream.h"
#include "tests/data/corpus_of.h"

namespace dragoman {
namespace {

PackedBatch whole_batch() {
  const Corpus corpus = corpus_of(random_pairs(37, 20));
  std::vector<std::uint32_t> pairs(37);
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) pairs[pair] = 36 - pair;
  PackedBatch batch = pack_batch(corpus, pairs, {.source = 998, .target = 999});
  for (std::int32_t b = 0; b < 37; ++b) batch.links.push_back({{b, 2 * b, 1}});
  return batch;
}

void append(PackedSide& whole, const PackedSide& part) {
  for (std::int64_t b = 1; b <= part.sentences(); ++b)
    whole.starts.push_back(static_cast<std::int32_t>(whole.size()) +
                           part.starts[static_cast<std::size_t>(b)]);
  whole.tokens.insert(whole.tokens.end(), part.tokens.begin(), part.tokens.end());
}

TEST(BatchParts, MakeTheBatchWhenPutTogether) {
  const PackedBatch batch = whole_batch();
  for (const std::int64_t budget : {0, 1, 25, 60, 200, 100'000}) {
    PackedBatch joined{.source = {{}, {0}}, .target = {{}, {0}}, .sentences = {}};
    const auto parts = parts_of(batch, budget);
    for (const PackedBatch& part : parts) {
      EXPECT_TRUE(budget == 0 || largest_side(part) <= budget || part.sentences.size() == 1);
      append(joined.source, part.source);
      append(joined.target, part.target);
      joined.sentences.insert(joined.sentences.end(), part.sentences.begin(), part.sentences.end());
      joined.links.insert(joined.links.end(), part.links.begin(), part.links.end());
    }
    EXPECT_EQ(joined.source.tokens, batch.source.tokens);
    EXPECT_EQ(joined.source.starts, batch.source.starts);
    EXPECT_EQ(joined.target.tokens, batch.target.tokens);
    EXPECT_EQ(joined.target.starts, batch.target.starts);
    EXPECT_EQ(joined.sentences, batch.sentences);
    ASSERT_EQ(joined.links.size(), batch.links.size());
    for (std::size_t b = 0; b < batch.links.size(); ++b)
      EXPECT_EQ(joined.links[b][0].target, batch.links[b][0].target);
    const bool whole = budget == 0 || budget == 100'000;
    EXPECT_EQ(parts.size() == 1, whole) << budget;
    EXPECT_EQ(parts.size() == 37, budget == 1) << budget;
  }
}

TEST(BatchParts, EqualPartsHaveAboutTheSameNumberOfTokensAndMakeTheBatchWhenPutTogether) {
  const PackedBatch batch = whole_batch();
  const std::int64_t tokens = batch.source.size() + batch.target.size();
  for (const std::int64_t count : {1, 2, 3, 7}) {
    const auto parts = equal_parts_of(batch, count);
    ASSERT_EQ(static_cast<std::int64_t>(parts.size()), count);
    std::vector<TokenId> source, target;
    for (const PackedBatch& part : parts) {
      // A cut is at most one sentence of 2 * 21 tokens away from its place.
      EXPECT_NEAR(part.source.size() + part.target.size(), tokens / count, 2 * 42);
      source.insert(source.end(), part.source.tokens.begin(), part.source.tokens.end());
      target.insert(target.end(), part.target.tokens.begin(), part.target.tokens.end());
    }
    EXPECT_EQ(source, batch.source.tokens);
    EXPECT_EQ(target, batch.target.tokens);
  }
  EXPECT_LE(equal_parts_of(batch, 100).size(), 37U);
}

}  // namespace
}  // namespace dragoman
