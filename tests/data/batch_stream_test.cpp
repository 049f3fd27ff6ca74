#include "data/batch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "base/error.h"
#include "tests/data/corpus_of.h"
#include "tests/data/prepare_fixture.h"
#include "tests/tokenizer/sample_text.h"

namespace dragoman {

namespace {

using testing::ElementsAre;

constexpr EndIds kEnds{.source = 998, .target = 999};

TEST(PackBatch, SentencesLieSideBySideEachWithItsEnd) {
  const Corpus corpus = corpus_of({{{1, 2}, {3}}, {{}, {4, 5}}, {{6}, {}}});
  const std::uint32_t pairs[] = {2, 0, 1};
  const PackedBatch batch = pack_batch(corpus, pairs, kEnds);
  EXPECT_THAT(batch.source.tokens, ElementsAre(6, 998, 1, 2, 998, 998));
  EXPECT_THAT(batch.source.starts, ElementsAre(0, 2, 5, 6));
  EXPECT_THAT(batch.target.tokens, ElementsAre(999, 3, 999, 4, 5, 999));
  EXPECT_THAT(batch.target.starts, ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(batch.sentences, ElementsAre(2, 0, 1));
}

TEST(PackBatch, SourcesOfAModelMayHaveNoEnd) {
  const Corpus corpus = corpus_of({{{1, 2}, {3}}, {{}, {4, 5}}, {{6}, {}}});
  const std::uint32_t pairs[] = {2, 0, 1};
  const PackedBatch batch =
      pack_batch(corpus, pairs, {.source = 998, .target = 999, .source_eos = false});
  EXPECT_THAT(batch.source.tokens, ElementsAre(6, 1, 2, 998)) << "an empty one has its end";
  EXPECT_THAT(batch.source.starts, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(batch.target.tokens, ElementsAre(999, 3, 999, 4, 5, 999));
}

TEST(AllBatches, BatchesHaveEveryPairOnceFromShortToLong) {
  const auto pairs = random_pairs(300, 20);
  std::int64_t sentences = 0;
  std::int32_t length = 0;
  for (const PackedBatch& batch : all_batches(corpus_of(pairs), 100, kEnds)) {
    sentences += batch.target.sentences();
    EXPECT_GE(batch.target.starts[1], length);
    length = batch.target.starts[1];
  }
  EXPECT_EQ(sentences, 300);
  EXPECT_TRUE(all_batches(Corpus(), 100, kEnds).empty());
}

TEST(EndIds, EndIdsAreThoseOfEachTokenizer) {
  TokenizerPair tokenizers;
  tokenizers.source = tokenizers.target =
      std::make_shared<const Tokenizer>(train_on(sample_text(50), {.vocab_size = 300}));
  EXPECT_EQ(end_ids(tokenizers).source, 2);
  EXPECT_EQ(end_ids(tokenizers).target, 2);
  EXPECT_TRUE(end_ids(tokenizers).source_eos);
  tokenizers.source_eos = false;
  EXPECT_FALSE(end_ids(tokenizers).source_eos);
}

bool same(const PackedBatch& a, const PackedBatch& b) {
  return a.sentences == b.sentences && a.source.tokens == b.source.tokens &&
         a.target.tokens == b.target.tokens && a.source.starts == b.source.starts &&
         a.target.starts == b.target.starts;
}

/// Batches of pairs that are encoded again, as training takes them.
class FreshBatches : public ToyCorpora {
 protected:
  FreshBatches() : ToyCorpora(400) { data.subword_sampling = 0.8; }
};

TEST_F(FreshBatches, FreshBatchesKeepTheBudgetAndFillMostOfIt) {
  const PreparedData prepared = prepare();
  for (const std::int64_t budget : {150, 1000}) {
    BatchStream stream(prepared.train, {.max_tokens = budget}, end_ids(prepared.tokenizers), {},
                       {.supplements = {prepared.encoder}});
    std::int64_t tokens = 0, fresh = 0, pairs = 0;
    const std::int64_t batches = stream.batches_in_epoch();
    for (std::int64_t i = 0; i < batches; ++i) {
      const PackedBatch batch = stream.next();
      EXPECT_LE(std::max(batch.source.size(), batch.target.size()), budget);
      tokens += batch.target.size();
      for (std::size_t b = 0; b < batch.sentences.size(); ++b, ++pairs) {
        const auto begin = batch.source.tokens.begin() + batch.source.starts[b];
        const auto end = batch.source.tokens.begin() + batch.source.starts[b + 1] - 1;
        fresh += std::vector<TokenId>(begin, end) != prepared.train.source(batch.sentences[b]);
      }
    }
    EXPECT_EQ(pairs, 800);
    EXPECT_GT(fresh, 700);
    EXPECT_GT(static_cast<double>(tokens), 0.8 * static_cast<double>(budget * batches));
  }
}

TEST_F(FreshBatches, FreshBatchesAreTheSameAfterAResume) {
  data.augment_upper_case = 0.1;
  data.augment_typos = data.augment_inline_tags = data.augment_copied_text = 0.2;
  data.mix = {"1: 1 0", "2 0.7"};
  const PreparedData prepared = prepare();
  const PlanConfig config{.max_tokens = 2000, .stages = prepared.stages()};
  BatchStream whole(prepared.train, config, end_ids(prepared.tokenizers), {},
                    {.supplements = {prepared.encoder}});
  const PreparedData again = prepare();
  for (int i = 0; i < 40; ++i) {
    BatchStream resumed(again.train, config, end_ids(again.tokenizers), whole.position(),
                        {.supplements = {again.encoder}});
    EXPECT_TRUE(same(resumed.next(), whole.next()));
  }
  EXPECT_GT(whole.position().epoch, 0);
}

TEST_F(FreshBatches, FreshBatchesDifferBetweenEpochs) {
  const PreparedData prepared = prepare();
  const BatchPacker packer(prepared.train, end_ids(prepared.tokenizers), {.max_tokens = 1000},
                           {prepared.encoder});
  const std::uint32_t pairs[] = {3, 4, 5};
  EXPECT_FALSE(same(packer.pack(pairs, {0, 0}), packer.pack(pairs, {1, 0})));
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

TEST(BatchStream, AResumedStreamContinuesAsIfItHadNeverStopped) {
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
  BatchStream stream(corpus, {.max_tokens = 100, .stages = {{0, {{0, 0.1}}}}}, kEnds, {});
  std::int64_t pairs = 0;
  while (stream.position().epoch < 40) pairs += stream.next().target.sentences();
  EXPECT_GE(pairs, 8);
  EXPECT_LE(pairs, 9);  // the last batch may be of a later epoch
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
