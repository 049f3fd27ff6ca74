#include "inference/forced_scores.h"

#include <gtest/gtest.h>

#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

constexpr std::int64_t kMany = 9;  // tokens

std::vector<SentencePair> random_pairs(std::size_t count) {
  std::vector<SourceSentence> sentences = random_sentences(2 * count, kMany);
  std::vector<SentencePair> pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.push_back({sentences[i].tokens, sentences[count + i].tokens});
  return pairs;
}

std::vector<Engine*> one(Engine& engine) { return {&engine}; }

TEST(ForcedScores, ScoresAreTheLogProbabilitiesOfTheTokensAfterThoseBeforeThem) {
  const Distribution distribution = random_distribution(kMany, 5);
  TableEngine engine(kMany, distribution);
  engine.never_emitted = {4};  // excluded tokens are scored all the same
  const std::vector<SentencePair> pairs = random_pairs(100);
  const auto scores = forced_scores(one(engine), pairs);
  ASSERT_EQ(scores.size(), pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto& [source, target] = pairs[i];
    ASSERT_EQ(scores[i].size(), target.size());
    for (std::size_t t = 0; t < target.size(); ++t) {
      const std::vector<TokenId> before(target.begin(),
                                        target.begin() + static_cast<std::ptrdiff_t>(t));
      EXPECT_EQ(scores[i][t], distribution(source, before)[static_cast<std::size_t>(target[t])]);
    }
  }
  EXPECT_EQ(engine.slots_in_use(), 0u);
  EXPECT_LE(engine.most_rows, engine.preferred_rows());
  EXPECT_GT(engine.most_rows, 1);
}

TEST(ForcedScores, ScoresOfSeveralEnginesAreThoseOfOne) {
  const Distribution distribution = random_distribution(kMany, 5);
  TableEngine alone(kMany, distribution), first(kMany, distribution), second(kMany, distribution);
  const std::vector<SentencePair> pairs = random_pairs(100);
  EXPECT_EQ(forced_scores(std::vector<Engine*>{&first, &second}, pairs),
            forced_scores(one(alone), pairs));
  EXPECT_EQ(first.admitted + second.admitted, 100);
}

TEST(ForcedScores, ScoresOfFewTokensAtATimeAreTheSame) {
  const Distribution distribution = random_distribution(kMany, 5);
  TableEngine all(kMany, distribution), few(kMany, distribution);
  const std::vector<SentencePair> pairs = random_pairs(100);
  EXPECT_EQ(forced_scores(one(few), pairs, {.max_tokens = 20}), forced_scores(one(all), pairs));
  EXPECT_LE(few.most_rows, 10) << "each pair has at least 2 tokens";
  EXPECT_GT(few.most_rows, 1);
  TableEngine single(kMany, distribution);
  EXPECT_EQ(forced_scores(one(single), pairs, {.max_tokens = 1}), forced_scores(one(all), pairs));
  EXPECT_EQ(single.most_rows, 1) << "a pair that is longer than the limit is computed alone";
}

TEST(ForcedScores, ASideThatIsLongerThanTheModelsPositionsIsRefused) {
  TableEngine engine(kMany, random_distribution(kMany, 5));
  engine.positions = 3;
  const std::vector<SentencePair> long_target = {{{3, kEos}, {3, 4, 5, kEos}}};
  const std::vector<SentencePair> long_source = {{{3, 4, 5, kEos}, {3, kEos}}};
  EXPECT_THROW(forced_scores(one(engine), long_target), Error);
  EXPECT_THROW(forced_scores(one(engine), long_source), Error);
  EXPECT_EQ(engine.admitted, 0);
}

TEST(ForcedScores, AfterAStopUnfinishedPairsHaveNoScores) {
  TableEngine engine(kMany, random_distribution(kMany, 5));
  std::stop_source stop;
  stop.request_stop();
  const auto scores = forced_scores(one(engine), random_pairs(20), {}, stop.get_token());
  ASSERT_EQ(scores.size(), 20u);
  for (const auto& of_pair : scores) EXPECT_TRUE(of_pair.empty());
  EXPECT_EQ(engine.slots_in_use(), 0u);
}

TEST(ForcedScores, NoPairsHaveNoScores) {
  TableEngine engine(kMany, random_distribution(kMany, 5));
  EXPECT_TRUE(forced_scores(one(engine), {}).empty());
}

}  // namespace
}  // namespace dragoman
