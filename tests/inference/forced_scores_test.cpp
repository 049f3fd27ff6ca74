#include "inference/forced_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/copying_model.h"
#include "tests/inference/search/table_engine.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMany = 9;  // tokens

std::vector<SentencePair> random_pairs(std::size_t count) {
  std::vector<SourceSentence> sentences = random_sentences(2 * count, kMany);
  std::vector<SentencePair> pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.push_back({sentences[i].tokens, sentences[count + i].tokens});
  return pairs;
}

std::vector<HostEngine*> one(HostEngine& engine) { return {&engine}; }

TEST(ForcedScores, ScoresAreTheLogProbabilitiesOfTheTokensAfterThoseBeforeThem) {
  const Distribution distribution = random_distribution(kMany, 5);
  TableEngine engine(kMany, distribution);
  engine.never_emitted = {4};  // excluded tokens are scored as well
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
  EXPECT_EQ(forced_scores(std::vector<HostEngine*>{&first, &second}, pairs),
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

const std::vector<std::string> kSources = {" one two. three ", "", "Four. Five."},
                               kTargets = {"two. one", "six,", "Five. Four.\t"};

std::vector<TokenId> ended(const std::string& text) { return tokenizer_pair().target_tokens(text); }

TEST(LineScores, ALineIsOnePairOrOneOfEachSentence) {
  for (const bool by_sentence : {false, true}) {
    const auto lines = pairs_of_lines(tokenizer_pair(), kSources, kTargets,
                                      {.by_sentence = by_sentence, .threads = 2});
    ASSERT_EQ(lines.size(), 3u);
    ASSERT_EQ(lines[0].size(), by_sentence ? 2u : 1u);
    EXPECT_EQ(lines[0][0].source, ended(by_sentence ? "one two." : "one two. three"));
    EXPECT_EQ(lines[0][0].target, ended(by_sentence ? "two." : "two. one"));
    ASSERT_EQ(lines[1].size(), 1u);
    EXPECT_THAT(lines[1][0].source, ElementsAre(tokenizer().eos_id()));
    EXPECT_EQ(lines[2].back().target, ended(by_sentence ? "Four." : "Five. Four."));
  }
}

TEST(LineScores, SourcesOfAModelMayHaveNoEnd) {
  TokenizerPair tokenizers = tokenizer_pair();
  tokenizers.source_eos = false;
  const auto lines = pairs_of_lines(tokenizers, kSources, kTargets, {});
  EXPECT_EQ(lines[0][0].source, tokenizer().encode("one two. three"));
  EXPECT_EQ(lines[0][0].target, ended("two. one"));
}

TEST(LineScores, TheScoresOfALinesPairsStandOneAfterTheOther) {
  const auto lines = pairs_of_lines(tokenizer_pair(), kSources, kTargets, {.by_sentence = true});
  const auto scores =
      scores_of_lines(lines,
                      [](std::span<const SentencePair> pairs, const std::stop_token&) {
                        std::vector<std::vector<float>> scores;
                        for (const SentencePair& pair : pairs)
                          scores.push_back({static_cast<float>(pair.source.size()),
                                            static_cast<float>(pair.target.size())});
                        return scores;
                      },
                      {});
  ASSERT_EQ(scores.size(), 3u);
  const auto size = [](const std::vector<TokenId>& tokens) {
    return static_cast<float>(tokens.size());
  };
  EXPECT_THAT(scores[0], ElementsAre(size(lines[0][0].source), size(lines[0][0].target),
                                     size(lines[0][1].source), size(lines[0][1].target)));
  EXPECT_EQ(scores[1].size(), 2u);
}

}  // namespace
}  // namespace dragoman
