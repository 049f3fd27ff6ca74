#include "data/packed_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
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

/// Expects that the views make up the batch.
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

/// `sentences` sentences of 1 to `longest` tokens.
PackedBatch batch_of(std::int64_t sentences, std::uint64_t longest, std::uint64_t seed) {
  PackedBatch batch;
  RandomStream random(seed, 1);
  for (PackedSide* side : {&batch.source, &batch.target}) {
    side->starts = {0};
    for (std::int64_t b = 0; b < sentences; ++b) {
      for (std::uint64_t t = 0; t <= random.below(longest); ++t)
        side->tokens.push_back(static_cast<TokenId>(random.below(50)));
      side->starts.push_back(static_cast<std::int32_t>(side->tokens.size()));
    }
  }
  for (std::int64_t b = 0; b < sentences; ++b) batch.sentences.push_back(7 * b);
  return batch;
}

void expect_filled(const PackedSide& side, const SideView& original, const SideShape& shape) {
  EXPECT_EQ(side.size(), shape.rows);
  EXPECT_TRUE(std::equal(original.tokens.begin(), original.tokens.end(), side.tokens.begin()));
  EXPECT_TRUE(std::all_of(side.tokens.begin() + original.size(), side.tokens.end(),
                          [](TokenId token) { return token == -1; }));
  for (std::size_t b = 0; b < original.starts.size(); ++b)
    EXPECT_EQ(side.starts[b], original.starts[b] - original.starts[0]);
  EXPECT_EQ(side.starts.back(), shape.rows);
  for (std::size_t b = 1; b < side.starts.size(); ++b) {
    const std::int64_t length = side.starts[b] - side.starts[b - 1];
    EXPECT_LE(length, shape.longest);
    EXPECT_GE(length, 1) << "a query of a filler sentence needs a key";
  }
}

TEST(BatchShape, AFilledBatchHasTheShapeAndBeginsWithTheBatch) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const PackedBatch batch =
        batch_of(static_cast<std::int64_t>(1 + seed % 97), 1 + seed * 7 % 60, seed);
    const BatchView view(batch);
    for (const BatchView& part :
         {view, BatchView(view, view.sentences.size() / 2, view.sentences.size())})
      for (const ShapeUse use : {ShapeUse::Padded, ShapeUse::Packed}) {
        const BatchShape shape = shape_for(part, use);
        const PackedBatch whole = filled(part, shape);
        expect_filled(whole.source, part.source, shape.source);
        expect_filled(whole.target, part.target, shape.target);
        EXPECT_EQ(whole.source.sentences(), shape.sentences);
        EXPECT_EQ(whole.target.sentences(), shape.sentences);
        EXPECT_EQ(static_cast<std::int64_t>(whole.sentences.size()), shape.sentences);
        EXPECT_EQ(whole.sentences.back(), -1);
        EXPECT_TRUE(whole.links.empty());
      }
  }
}

TEST(BatchShape, NoSentenceIsLongerThanAModelAllows) {
  PackedBatch batch = batch_of(40, 30, 3);
  for (PackedSide* side : {&batch.source, &batch.target}) {
    side->tokens.resize(side->tokens.size() + 90, 7);
    side->starts.push_back(static_cast<std::int32_t>(side->size()));
  }
  batch.sentences.push_back(0);
  for (const ShapeUse use : {ShapeUse::Padded, ShapeUse::Packed}) {
    const BatchShape shape = shape_for(batch, use, 97);
    EXPECT_LE(std::max(shape.source.longest, shape.target.longest), 97);
    expect_filled(filled(batch, shape).source, batch.source, shape.source);
    EXPECT_EQ(shape_for(batch, use, 5).source.longest, 90) << "the batch's own sentences stay";
  }
}

TEST(BatchShape, ABatchIsFilledUpToItsCapacityByFewSentencesAndEmptyOnes) {
  PackedBatch batch = batch_of(40, 30, 3);
  EXPECT_FALSE(capacity_for(batch, 1000)) << "it has none";
  batch.capacity = {.sentences = 60,
                    .source = {.rows = batch.source.size() + 3, .longest = 128},
                    .target = {.rows = batch.target.size() + 90, .longest = 128}};
  ASSERT_EQ(capacity_for(batch, 1000), batch.capacity);
  EXPECT_EQ(capacity_for(batch, 97)->target.longest, 97);
  EXPECT_FALSE(capacity_for(batch, 29)) << "three filler sentences have room for 87";
  EXPECT_FALSE(capacity_for(BatchView(BatchView(batch), 0, 20), 1000)) << "a part of it";
  const PackedBatch whole = filled(batch, batch.capacity);
  ASSERT_EQ(whole.source.sentences(), 60);
  ASSERT_EQ(whole.target.sentences(), 60);
  for (std::size_t b = 40; b < 60; ++b) {
    EXPECT_EQ(whole.source.starts[b + 1] - whole.source.starts[b], b < 43 ? 1 : 0);
    EXPECT_EQ(whole.target.starts[b + 1] - whole.target.starts[b], b < 43 ? 30 : 0);
  }
}

TEST(BatchShape, ALargerBatchThanTheCapacityHasNone) {
  PackedBatch batch = batch_of(40, 30, 3);
  batch.capacity = shape_for(batch, ShapeUse::Packed);
  EXPECT_TRUE(capacity_for(batch, 1000));
  PackedBatch of_more_sentences = batch;
  of_more_sentences.capacity.sentences = 39;
  EXPECT_FALSE(capacity_for(of_more_sentences, 1000));
  for (SideShape BatchShape::*side : {&BatchShape::source, &BatchShape::target})
    for (std::int64_t SideShape::*field : {&SideShape::rows, &SideShape::longest}) {
      PackedBatch larger = batch;
      larger.capacity.*side.*field = 5;
      EXPECT_FALSE(capacity_for(larger, 1000));
    }
}

TEST(BatchShape, FillerSentencesHaveNoLinks) {
  PackedBatch batch = batch_of(3, 5, 1);
  batch.links = {{{0, 0, 1}}, {}, {{0, 0, 1}}};
  const PackedBatch whole = filled(batch, shape_for(batch, ShapeUse::Padded));
  ASSERT_EQ(whole.links.size(), whole.sentences.size());
  EXPECT_EQ(whole.links[2].size(), 1u);
  EXPECT_TRUE(whole.links.back().empty());
}

TEST(BatchShape, SimilarBatchesHaveOneOfFewShapesAndLittleFiller) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> shapes;
  std::int64_t tokens = 0, rows = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const PackedBatch batch = batch_of(300, 30, seed);
    const BatchShape shape = shape_for(batch, ShapeUse::Padded);
    shapes.insert({shape.sentences, shape.source.rows, shape.target.rows});
    tokens += batch.source.size() + batch.target.size();
    rows += shape.source.rows + shape.target.rows;
  }
  EXPECT_LE(shapes.size(), 9u);
  EXPECT_LT(static_cast<double>(rows), 1.15 * static_cast<double>(tokens));
}

/// Batches of sentences sorted by length, as in an epoch: at most `max_tokens` on a side.
std::vector<PackedBatch> epoch_of(std::int64_t pairs, std::int64_t max_tokens) {
  RandomStream random(3, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> lengths;  // target, source
  for (std::int64_t i = 0; i < pairs; ++i) {
    const auto length = static_cast<std::int64_t>(3 + random.below(20) + random.below(20) +
                                                  random.below(40) * random.below(2));
    lengths.emplace_back(length, length + static_cast<std::int64_t>(random.below(7)));
  }
  std::sort(lengths.begin(), lengths.end());
  std::vector<PackedBatch> batches;
  for (const auto& [target, source] : lengths) {
    if (batches.empty() || std::max(batches.back().target.size() + target,
                                    batches.back().source.size() + source) > max_tokens) {
      batches.emplace_back();
      batches.back().source.starts = batches.back().target.starts = {0};
    }
    PackedBatch& batch = batches.back();
    for (const auto& [side, length] :
         {std::pair(&batch.source, source), std::pair(&batch.target, target)}) {
      side->tokens.resize(side->tokens.size() + static_cast<std::size_t>(length), 7);
      side->starts.push_back(static_cast<std::int32_t>(side->size()));
    }
    batch.sentences.push_back(0);
  }
  return batches;
}

TEST(BatchShape, AnEpochHasFewShapesAndLittleFiller) {
  for (const std::int64_t max_tokens : {2048, 4096, 25000}) {
    using Shape = std::array<std::int64_t, 5>;
    std::set<Shape> shapes;
    std::int64_t tokens = 0, rows = 0;
    const auto batches = epoch_of(60'000, max_tokens);
    for (const PackedBatch& batch : batches) {
      const BatchShape shape = shape_for(batch, ShapeUse::Packed);
      shapes.insert({shape.sentences, shape.source.rows, shape.target.rows, shape.source.longest,
                     shape.target.longest});
      tokens += batch.source.size() + batch.target.size();
      rows += shape.source.rows + shape.target.rows;
    }
    EXPECT_LE(shapes.size(), 40U) << "of " << batches.size() << " batches";
    EXPECT_LT(static_cast<double>(rows), 1.12 * static_cast<double>(tokens));
  }
}

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
