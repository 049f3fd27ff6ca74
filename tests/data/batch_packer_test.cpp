#include "data/batch_packer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "data/batch_stream.h"
#include "tests/data/corpus_of.h"
#include "tests/data/toy_corpora.h"
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

/// Batches of an encoder, as training takes them.
class FreshBatches : public ToyCorpora {
 protected:
  FreshBatches() : ToyCorpora(400) { data.subword_sampling = 0.8; }
  static bool same(const PackedBatch& a, const PackedBatch& b) {
    return a.sentences == b.sentences && a.source.tokens == b.source.tokens &&
           a.target.tokens == b.target.tokens && a.target.starts == b.target.starts;
  }
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
  data.corpus_weights = {"2", "0.7"};
  const PreparedData prepared = prepare();
  const PlanConfig config{.max_tokens = 2000, .weights = prepared.weights()};
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

}  // namespace
}  // namespace dragoman
