#include "data/epoch_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "data/batch_stream.h"
#include "tests/data/corpus_of.h"

namespace dragoman {
namespace {

std::vector<std::vector<std::uint32_t>> batches_of(const EpochPlan& plan) {
  std::vector<std::vector<std::uint32_t>> batches;
  for (std::int64_t i = 0; i < plan.batches(); ++i)
    batches.emplace_back(plan.batch(i).begin(), plan.batch(i).end());
  return batches;
}

struct BatchTokens {
  std::int64_t source = 0, target = 0;  ///< with </s>
};

BatchTokens tokens_of(const Corpus& corpus, const std::vector<std::uint32_t>& batch) {
  BatchTokens tokens;
  for (const std::uint32_t pair : batch) {
    tokens.source += corpus.lengths(pair).source + 1;
    tokens.target += corpus.lengths(pair).target + 1;
  }
  return tokens;
}

TEST(EpochPlan, AnEpochHasEveryPairOnce) {
  for (const int count : {0, 1, 2, 777, 3000}) {
    const Corpus corpus = corpus_of(random_pairs(count, 20));
    std::vector<std::uint32_t> seen;
    for (const auto& batch : batches_of(plan_epoch(corpus, {.max_tokens = 100}, 3))) {
      EXPECT_FALSE(batch.empty());
      seen.insert(seen.end(), batch.begin(), batch.end());
    }
    std::sort(seen.begin(), seen.end());
    std::vector<std::uint32_t> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
  }
}

TEST(EpochPlan, BatchesKeepTheBudgetOnEachSideButForPairsAboveIt) {
  const Corpus corpus = corpus_of(random_pairs(2000, 40));
  for (const std::int64_t budget : {1, 20, 100, 1000}) {
    for (const auto& batch : batches_of(plan_epoch(corpus, {.max_tokens = budget}, 0))) {
      const BatchTokens tokens = tokens_of(corpus, batch);
      if (batch.size() > 1) {
        EXPECT_LE(std::max(tokens.source, tokens.target), budget);
      }
    }
  }
}

TEST(EpochPlan, BatchesAreNearlyFull) {
  const Corpus corpus = corpus_of(random_pairs(5000, 40));
  const auto batches = batches_of(plan_epoch(corpus, {.max_tokens = 500}, 0));
  std::int64_t total = 0;
  for (const auto& batch : batches) total += tokens_of(corpus, batch).target;
  EXPECT_GT(static_cast<double>(total) / static_cast<double>(batches.size()), 0.92 * 500);
}

TEST(EpochPlan, BatchesKeepTheLimitOfSentences) {
  const Corpus corpus = corpus_of(random_pairs(1000, 20));
  std::size_t largest = 0;
  for (const auto& batch :
       batches_of(plan_epoch(corpus, {.max_tokens = 10'000, .max_sentences = 7}, 0)))
    largest = std::max(largest, batch.size());
  EXPECT_EQ(largest, 7u);
}

TEST(EpochPlan, ABatchHasPairsOfLikeLength) {
  const Corpus corpus = corpus_of(random_pairs(5000, 50));
  for (const auto& batch : batches_of(plan_epoch(corpus, {.max_tokens = 300}, 0))) {
    std::int32_t shortest = 1 << 20, longest = 0;
    for (const std::uint32_t pair : batch) {
      shortest = std::min(shortest, corpus.lengths(pair).target);
      longest = std::max(longest, corpus.lengths(pair).target);
    }
    EXPECT_LE(longest - shortest, 2);
  }
}

TEST(EpochPlan, APlanIsAPureFunctionOfItsArguments) {
  const Corpus corpus = corpus_of(random_pairs(500, 20));
  const PlanConfig config{.max_tokens = 100, .seed = 5};
  const auto plan = batches_of(plan_epoch(corpus, config, 2));
  EXPECT_EQ(batches_of(plan_epoch(corpus, config, 2)), plan);
  EXPECT_NE(batches_of(plan_epoch(corpus, config, 3)), plan);
  EXPECT_NE(batches_of(plan_epoch(corpus, {.max_tokens = 100, .seed = 6}, 2)), plan);
}

TEST(EpochPlan, PairsOfOneLengthAndTheOrderOfBatchesAreMixedAgain) {
  const Corpus corpus = corpus_of(std::vector<TokenPair>(1000, {{1, 2, 3}, {4, 5, 6}}));
  const auto first = batches_of(plan_epoch(corpus, {.max_tokens = 40}, 0));
  const auto second = batches_of(plan_epoch(corpus, {.max_tokens = 40}, 1));
  int neighbours = 0, together = 0;
  std::vector<std::size_t> batch_of(1000);
  for (std::size_t b = 0; b < second.size(); ++b)
    for (const std::uint32_t pair : second[b]) batch_of[pair] = b;
  for (const auto& batch : first)
    for (std::size_t i = 1; i < batch.size(); ++i) {
      neighbours += std::max(batch[i], batch[i - 1]) - std::min(batch[i], batch[i - 1]) == 1;
      together += batch_of[batch[i]] == batch_of[batch[i - 1]];
    }
  EXPECT_LT(neighbours, 20);  // 2 by chance
  EXPECT_LT(together, 40);    // 9 by chance
}

TEST(EpochPlan, LongAndShortBatchesAlternateAtRandom) {
  const Corpus corpus = corpus_of(random_pairs(3000, 50));
  const auto batches = batches_of(plan_epoch(corpus, {.max_tokens = 200}, 0));
  int rises = 0;
  for (std::size_t i = 1; i < batches.size(); ++i)
    rises += corpus.lengths(batches[i][0]).target > corpus.lengths(batches[i - 1][0]).target;
  EXPECT_NEAR(static_cast<double>(rises) / static_cast<double>(batches.size()), 0.5, 0.1);
}

TEST(EpochPlan, AValidationGoesFromShortToLong) {
  const Corpus corpus = corpus_of(random_pairs(500, 20));
  std::vector<std::uint32_t> order;
  for (const auto& batch : batches_of(plan_in_length_order(corpus, {.max_tokens = 60})))
    order.insert(order.end(), batch.begin(), batch.end());
  std::vector<std::uint32_t> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
    const PairLengths x = corpus.lengths(a), y = corpus.lengths(b);
    return std::pair(x.target, x.source) < std::pair(y.target, y.source);
  });
  EXPECT_EQ(order, expected);
}

TEST(TimesSeen, APairIsSeenAsOftenAsItsWeightOnAverageAndEvenlyOverTheEpochs) {
  for (const double weight : {0.25, 0.7, 1.0, 2.4, 3.0}) {
    std::int64_t first_epoch = 0;
    for (std::int64_t pair = 0; pair < 4000; ++pair) {
      std::int64_t seen = 0;
      for (std::int64_t epoch = 0; epoch < 20; ++epoch) {
        const std::int64_t times = times_seen(weight, 7, epoch, pair);
        EXPECT_GE(times, std::floor(weight));
        EXPECT_LE(times, std::ceil(weight));
        seen += times;
        if (epoch == 0) first_epoch += times;
        const double expected = static_cast<double>(epoch + 1) * weight;
        ASSERT_GE(seen, std::floor(expected)) << weight << " after epoch " << epoch;
        ASSERT_LE(seen, std::ceil(expected)) << weight << " after epoch " << epoch;
      }
    }
    // 4,000 draws of variance 1/4 at most: five standard deviations are 0.04.
    EXPECT_NEAR(static_cast<double>(first_epoch) / 4000, weight, 0.04);
  }
}

TEST(TimesSeen, TimesDependOnTheSeed) {
  std::int64_t other = 0;
  for (std::int64_t pair = 0; pair < 100; ++pair)
    other += times_seen(0.5, 1, 0, pair) != times_seen(0.5, 2, 0, pair);
  EXPECT_GT(other, 20);
}

TEST(EpochPlan, AnEpochHasEachPairAsOftenAsItsWeightSays) {
  const Corpus corpus = corpus_of(random_pairs(900, 20));
  const PlanConfig config{
      .max_tokens = 120, .seed = 5, .stages = {{0, {{0, 1}, {300, 2.5}, {700, 0.2}}}}};
  const auto weight_of = [](std::uint32_t pair) {
    return pair < 300 ? 1.0 : pair < 700 ? 2.5 : 0.2;
  };
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    const EpochPlan plan = plan_epoch(corpus, config, epoch);
    std::vector<std::int64_t> seen(900);
    for (std::int64_t i = 0; i < plan.batches(); ++i) {
      const std::vector<std::uint32_t> batch(plan.batch(i).begin(), plan.batch(i).end());
      EXPECT_LE(std::max(tokens_of(corpus, batch).source, tokens_of(corpus, batch).target), 120);
      std::vector<std::uint32_t> sorted = batch;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end()) << "a pair twice";
      for (const std::uint32_t pair : batch) {
        EXPECT_LT(plan.round(i), std::ceil(weight_of(pair)));
        ++seen[pair];
      }
    }
    for (std::uint32_t pair = 0; pair < 900; ++pair)
      EXPECT_EQ(seen[pair], times_seen(weight_of(pair), 5, epoch, pair));
  }
}

TEST(EpochPlan, EachStageHasItsWeights) {
  const Corpus corpus = corpus_of(random_pairs(900, 20));
  for (const BatchLengths lengths : {BatchLengths::Similar, BatchLengths::Mixed}) {
    const PlanConfig config{
        .max_tokens = 120,
        .lengths = lengths,
        .stages = {{0, {{0, 1}, {300, 0}}}, {kUnknownEpoch, {{0, 3}}}, {2, {{0, 0}, {300, 2}}}}};
    for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
      std::vector<std::int64_t> seen(900);
      for (const auto& batch : batches_of(plan_epoch(corpus, config, epoch)))
        for (const std::uint32_t pair : batch) ++seen[pair];
      for (std::size_t pair = 0; pair < 900; ++pair)
        ASSERT_EQ(seen[pair], (epoch < 2) == (pair < 300) ? (epoch < 2 ? 1 : 2) : 0);
    }
  }
}

TEST(EpochPlan, RoundsOfAWeightAreInDifferentOrders) {
  const Corpus corpus = corpus_of(std::vector<TokenPair>(200, {{1, 2}, {3}}));
  const EpochPlan plan = plan_epoch(corpus, {.max_tokens = 60, .stages = {{0, {{0, 2}}}}}, 0);
  std::vector<std::vector<std::uint32_t>> first, second;
  for (std::int64_t i = 0; i < plan.batches(); ++i)
    (plan.round(i) == 0 ? first : second).emplace_back(plan.batch(i).begin(), plan.batch(i).end());
  ASSERT_EQ(first.size(), second.size());
  for (const auto& batch : first)
    EXPECT_EQ(std::find(second.begin(), second.end(), batch), second.end());
}

// ---- batches of mixed lengths -------------------------------------------------------------------

constexpr BatchLengths kMixed = BatchLengths::Mixed;

/// Sources are a little shorter than targets; most are short, some long.
Corpus usual_corpus(int pairs) {
  RandomStream random(3, 1);
  std::vector<TokenPair> all;
  for (int i = 0; i < pairs; ++i) {
    const std::size_t target =
        3 + random.below(20) + random.below(20) + random.below(40) * random.below(2);
    const std::size_t source = target * (70 + random.below(41)) / 100 + random.below(3);
    all.emplace_back(std::vector<TokenId>(source, 7), std::vector<TokenId>(target, 7));
  }
  return corpus_of(all);
}

TEST(MixedBatches, EveryPairIsInABatchOnceAndBatchesKeepToTheCapacity) {
  const Corpus corpus = corpus_of(random_pairs(3000, 40));
  for (const std::int64_t budget : {1, 60, 500, 100'000})
    for (const std::int64_t sentences : {0, 7}) {
      const PlanConfig config{.max_tokens = budget, .max_sentences = sentences, .lengths = kMixed};
      const BatchCapacity capacity = batch_capacity(corpus, config);
      EXPECT_LE(std::max(capacity.source_tokens, capacity.target_tokens), budget);
      std::vector<std::uint32_t> seen;
      for (const auto& batch : batches_of(plan_epoch(corpus, config, 3))) {
        ASSERT_FALSE(batch.empty());
        EXPECT_LE(std::ssize(batch), sentences > 0 ? sentences : capacity.sentences);
        const BatchTokens tokens = tokens_of(corpus, batch);
        if (batch.size() > 1) {
          EXPECT_LE(tokens.source, capacity.source_tokens);
          EXPECT_LE(tokens.target, capacity.target_tokens);
        }
        seen.insert(seen.end(), batch.begin(), batch.end());
      }
      std::sort(seen.begin(), seen.end());
      std::vector<std::uint32_t> all(3000);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_EQ(seen, all);
    }
}

TEST(MixedBatches, AllBatchesOfAnEpochHaveOneShapeAndLittleFiller) {
  const Corpus corpus = usual_corpus(60'000);
  for (const std::int64_t budget : {2048, 4096, 25'000}) {
    const PlanConfig config{.max_tokens = budget, .lengths = kMixed};
    const BatchShape shape = batch_capacity(corpus, config).shape;
    std::int64_t tokens = 0, rows = 0;
    for (const auto& pairs : batches_of(plan_epoch(corpus, config, 0))) {
      PackedBatch batch = pack_batch(corpus, pairs, {});
      batch.capacity = shape;
      EXPECT_EQ(capacity_for(batch, 1000), shape);
      tokens += batch.source.size() + batch.target.size();
      rows += shape.source.rows + shape.target.rows;
    }
    EXPECT_LT(static_cast<double>(rows - tokens), 0.03 * static_cast<double>(rows)) << budget;
  }
}

TEST(MixedBatches, APlanIsAFunctionOfSeedAndEpoch) {
  const Corpus corpus = usual_corpus(2000);
  const auto plan = [&corpus](std::uint64_t seed, std::int64_t epoch) {
    return batches_of(
        plan_epoch(corpus, {.max_tokens = 400, .lengths = kMixed, .seed = seed}, epoch));
  };
  EXPECT_EQ(plan(1, 2), plan(1, 2));
  EXPECT_NE(plan(1, 2), plan(1, 3));
  EXPECT_NE(plan(1, 2), plan(2, 2));
}

TEST(MixedBatches, ASmallCorpusHasASmallCapacity) {
  const Corpus corpus = corpus_of(random_pairs(20, 10));
  const BatchShape shape = batch_capacity(corpus, {.max_tokens = 25'000, .lengths = kMixed}).shape;
  EXPECT_LE(std::max(shape.source.rows, shape.target.rows), 256);
}

}  // namespace
}  // namespace dragoman
