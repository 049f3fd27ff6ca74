#include "data/batch_shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/random.h"

namespace dragoman {
namespace {

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
         {view, BatchView(view, view.sentences.size() / 2, view.sentences.size())}) {
      const BatchShape shape = shape_for(part);
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

TEST(BatchShape, LinksOfFillerSentencesAreNone) {
  PackedBatch batch = batch_of(3, 5, 1);
  batch.links = {{{0, 0, 1}}, {}, {{0, 0, 1}}};
  const PackedBatch whole = filled(batch, shape_for(batch));
  ASSERT_EQ(whole.links.size(), whole.sentences.size());
  EXPECT_EQ(whole.links[2].size(), 1u);
  EXPECT_TRUE(whole.links.back().empty());
}

TEST(BatchShape, SimilarBatchesHaveOneOfFewShapesAndLittleFiller) {
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> shapes;
  std::int64_t tokens = 0, rows = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const PackedBatch batch = batch_of(300, 30, seed);
    const BatchShape shape = shape_for(batch);
    shapes.insert({shape.sentences, shape.source.rows, shape.target.rows});
    tokens += batch.source.size() + batch.target.size();
    rows += shape.source.rows + shape.target.rows;
  }
  EXPECT_LE(shapes.size(), 9u);
  EXPECT_LT(static_cast<double>(rows), 1.15 * static_cast<double>(tokens));
}

}  // namespace
}  // namespace dragoman
