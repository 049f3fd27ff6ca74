#include "data/batch_partition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/batch_stream.h"
#include "tests/data/corpus_of.h"

namespace dragoman {
namespace {

PackedBatch batch_of(std::uint32_t sentences) {
  const Corpus corpus = corpus_of(random_pairs(sentences, 20));
  std::vector<std::uint32_t> pairs(sentences);
  for (std::uint32_t pair = 0; pair < pairs.size(); ++pair) pairs[pair] = sentences - 1 - pair;
  PackedBatch batch = pack_batch(corpus, pairs, {.source = 998, .target = 999});
  for (std::int32_t b = 0; b < static_cast<std::int32_t>(sentences); ++b)
    batch.links.push_back({{b, 2 * b, 1}});
  return batch;
}

void append(PackedSide& joined, const SideView& side) {
  for (std::size_t b = 1; b < side.starts.size(); ++b)
    joined.starts.push_back(joined.starts.back() + side.starts[b] - side.starts[b - 1]);
  joined.tokens.insert(joined.tokens.end(), side.tokens.begin(), side.tokens.end());
}

/// Expects the batch when the views are put together.
void expect_batch(const std::vector<BatchView>& views, const PackedBatch& batch) {
  PackedBatch joined{.source = {{}, {0}}, .target = {{}, {0}}, .sentences = {}};
  for (const BatchView& view : views) {
    append(joined.source, view.source);
    append(joined.target, view.target);
    joined.sentences.insert(joined.sentences.end(), view.sentences.begin(), view.sentences.end());
    joined.links.insert(joined.links.end(), view.links.begin(), view.links.end());
  }
  EXPECT_EQ(joined.source.tokens, batch.source.tokens);
  EXPECT_EQ(joined.source.starts, batch.source.starts);
  EXPECT_EQ(joined.target.tokens, batch.target.tokens);
  EXPECT_EQ(joined.target.starts, batch.target.starts);
  EXPECT_EQ(joined.sentences, batch.sentences);
  ASSERT_EQ(joined.links.size(), batch.links.size());
  for (std::size_t b = 0; b < batch.links.size(); ++b)
    EXPECT_EQ(joined.links[b][0].target, batch.links[b][0].target);
}

TEST(BatchPartition, PartsKeepToTheBudgetAndAreTheBatchWhenPutTogether) {
  const PackedBatch batch = batch_of(37);
  for (const std::int64_t most : {0, 1, 25, 60, 200, 100'000}) {
    std::vector<BatchView> wholes;
    for (const BatchPart& part : partition(batch, {.part_tokens = most})) {
      wholes.push_back(part.whole);
      EXPECT_TRUE(most == 0 || part.whole.largest_side() <= most ||
                  part.whole.sentences.size() == 1);
      EXPECT_EQ(part.shares.size(), 1U);
    }
    expect_batch(wholes, batch);
    const bool whole = most == 0 || most == 100'000;
    EXPECT_EQ(wholes.size() == 1, whole) << most;
    EXPECT_EQ(wholes.size() == 37, most == 1) << most;
  }
}

TEST(BatchPartition, SharesHaveAboutAsManyTokensAndAreTheBatchWhenPutTogether) {
  const PackedBatch batch = batch_of(500);
  for (const std::int64_t most : {0, 3000})
    for (const std::int64_t threads : {1, 2, 3, 5}) {
      std::vector<BatchView> all;
      for (const auto& [whole, shares] :
           partition(batch, {.part_tokens = most, .threads = threads})) {
        const std::int64_t most = std::max<std::int64_t>(whole.largest_side() / 512, 1);
        const std::int64_t count = std::min(threads, most);
        ASSERT_EQ(static_cast<std::int64_t>(shares.size()), count);
        const std::int64_t tokens = whole.source.size() + whole.target.size();
        for (const BatchView& share : shares) {
          // A cut is at most one sentence of 2 * 21 tokens away from its place.
          EXPECT_NEAR(share.source.size() + share.target.size(), tokens / count, 2 * 42);
          all.push_back(share);
        }
      }
      expect_batch(all, batch);
    }
}

TEST(BatchPartition, NoTokenMoves) {
  const PackedBatch batch = batch_of(500);
  const auto parts = partition(batch, {.part_tokens = 3000, .threads = 2});
  EXPECT_GT(parts.size(), 1U);
  EXPECT_EQ(parts.front().shares.front().source.tokens.data(), batch.source.tokens.data());
  EXPECT_EQ(&parts.back().shares.back().target.tokens.back(), &batch.target.tokens.back());
}

}  // namespace
}  // namespace dragoman
