#include "data/batch_stream.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/error.h"
#include "tests/data/corpus_of.h"

namespace dragoman {
namespace {

constexpr EndIds kEnds{.source = 998, .target = 999};

bool same(const PackedBatch& a, const PackedBatch& b) {
  return a.sentences == b.sentences && a.source.tokens == b.source.tokens &&
         a.target.tokens == b.target.tokens && a.source.starts == b.source.starts &&
         a.target.starts == b.target.starts;
}

TEST(BatchStream, PlannedBatchesComeEpochAfterEpoch) {
  const Corpus corpus = corpus_of(random_pairs(200, 20));
  const PlanConfig config{.max_tokens = 150, .seed = 4};
  BatchStream stream(corpus, config, kEnds, {});
  for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
    const EpochPlan plan = plan_epoch(corpus, config, epoch);
    for (std::int64_t i = 0; i < plan.batches(); ++i) {
      EXPECT_EQ(stream.position(), (DataPosition{epoch, i}));
      EXPECT_EQ(stream.batches_in_epoch(), plan.batches());
      EXPECT_TRUE(same(stream.next(), pack_batch(corpus, plan.batch(i), kEnds)));
    }
  }
}

TEST(BatchStream, AResumedStreamGoesOnAsIfItHadNeverStopped) {
  const Corpus corpus = corpus_of(random_pairs(100, 20));
  const PlanConfig config{.max_tokens = 150, .seed = 4};
  BatchStream whole(corpus, config, kEnds, {});
  for (int i = 0; i < 30; ++i) {
    BatchStream resumed(corpus, config, kEnds, whole.position());
    EXPECT_EQ(resumed.position(), whole.position());
    EXPECT_TRUE(same(resumed.next(), whole.next()));
  }
}

TEST(BatchStream, EpochsThatSmallWeightsLeaveEmptyAreSkipped) {
  const Corpus corpus = corpus_of({{{5, 6}, {7}}, {{8}, {9, 10}}});
  BatchStream stream(corpus, {.max_tokens = 100, .weights = {{0, 0.1}}}, kEnds, {});
  std::int64_t pairs = 0;
  while (stream.position().epoch < 40) pairs += stream.next().target.sentences();
  EXPECT_GE(pairs, 8);
  EXPECT_LE(pairs, 9);  // the last batch may come of a later epoch
}

TEST(BatchStream, SharesTogetherAreTheBatchesOfOneStream) {
  const Corpus corpus = corpus_of(random_pairs(60, 20));
  const PlanConfig config{.max_tokens = 150, .seed = 4};
  for (const std::int64_t size : {2, 3, 40}) {  // 40: more than an epoch has
    BatchStream whole(corpus, config, kEnds, {.epoch = 0, .batch = 1});
    std::vector<std::unique_ptr<BatchStream>> shares;
    for (std::int64_t rank = 0; rank < size; ++rank)
      shares.push_back(
          std::make_unique<BatchStream>(corpus, config, kEnds, whole.position(),
                                        StreamOptions{.share = {.rank = rank, .size = size}}));
    for (int round = 0; round < 20; ++round) {
      for (const auto& share : shares) EXPECT_EQ(share->position(), whole.position());
      for (const auto& share : shares) EXPECT_TRUE(same(share->next(), whole.next()));
    }
  }
}

TEST(BatchStream, APositionPastTheEndMeansTheNextEpoch) {
  const Corpus corpus = corpus_of(random_pairs(50, 20));
  BatchStream stream(corpus, {.max_tokens = 100}, kEnds, {.epoch = 1, .batch = 1'000'000});
  EXPECT_EQ(stream.position(), (DataPosition{2, 0}));
}

TEST(BatchStream, AStreamMayEndAtAnyMoment) {
  const Corpus corpus = corpus_of(random_pairs(50, 20));
  for (int taken = 0; taken < 5; ++taken) {
    BatchStream stream(corpus, {.max_tokens = 100}, kEnds, {});
    for (int i = 0; i < taken; ++i) stream.next();
  }
}

TEST(BatchStream, AllWaitingIsCounted) {
  // Batches that take milliseconds, and a consumer that does nothing but take them.
  const Corpus corpus = corpus_of(random_pairs(4, 1'000'000));
  BatchStream stream(corpus, {.max_tokens = 1'000'000}, kEnds, {});
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::int64_t batches = 0;
  for (int i = 0; i < 30; ++i) {
    batches += stream.batches_in_epoch();
    stream.next();
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  EXPECT_GE(batches, 30);
  EXPECT_GT(stream.waited_seconds(), 0.5 * seconds);
  EXPECT_LE(stream.waited_seconds(), seconds);
}

TEST(BatchStream, ACorpusWithoutPairsIsRefused) {
  EXPECT_THROW(BatchStream(Corpus(), {}, kEnds, {}), Error);
}

}  // namespace
}  // namespace dragoman
