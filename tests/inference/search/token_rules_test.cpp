#include "inference/search/token_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMany = 8;  // tokens

std::map<TokenId, float> adjustments(const Tokens& history, const DecodeConfig& config,
                                     const TargetTokens& tokens = {kEos}, bool no_eos = false) {
  std::vector<Adjustment> list;
  append_adjustments({.number = 5, .history = history, .must_continue = no_eos}, config, tokens,
                     list);
  std::map<TokenId, float> factors;
  for (const Adjustment& adjustment : list) {
    EXPECT_EQ(adjustment.row, 5);
    EXPECT_TRUE(factors.emplace(adjustment.token, adjustment.factor).second) << "twice";
  }
  return factors;
}

TEST(TokenRules, NothingIsAdjustedIfNothingIsAskedFor) {
  EXPECT_THAT(adjustments({3, 4, 3, 4}, {}), IsEmpty());
}

TEST(TokenRules, EndsOfNGramsThatStandThereAreExcluded) {
  const DecodeConfig config{.no_repeat_ngram_size = 2};
  EXPECT_THAT(adjustments({}, config), IsEmpty());
  EXPECT_THAT(adjustments({3}, config), IsEmpty());
  EXPECT_THAT(adjustments({3, 4, 5, 3}, config), ElementsAre(std::pair(4, kExclude)));
  EXPECT_THAT(adjustments({3, 4, 3, 6, 3}, config),
              ElementsAre(std::pair(4, kExclude), std::pair(6, kExclude)));
  EXPECT_THAT(adjustments({3, 3}, config), ElementsAre(std::pair(3, kExclude)));
  EXPECT_THAT(adjustments({3, 4}, {.no_repeat_ngram_size = 1}),
              ElementsAre(std::pair(3, kExclude), std::pair(4, kExclude)));
  EXPECT_THAT(adjustments({3, 4, 5, 6, 3, 4}, {.no_repeat_ngram_size = 3}),
              ElementsAre(std::pair(5, kExclude)));
}

TEST(TokenRules, AvoidedSequencesAreNotCompleted) {
  const TargetTokens tokens{.eos = kEos, .suppressed = {7}, .avoided = {{3, 4}, {6}}};
  EXPECT_THAT(adjustments({5}, {}, tokens),
              ElementsAre(std::pair(6, kExclude), std::pair(7, kExclude)));
  EXPECT_THAT(adjustments({5, 3}, {}, tokens),
              ElementsAre(std::pair(4, kExclude), std::pair(6, kExclude), std::pair(7, kExclude)));
}

TEST(TokenRules, AnExcludedTokenIsNotAlsoPenalised) {
  EXPECT_THAT(adjustments({3, 3, 4}, {.repetition_penalty = 2, .no_repeat_ngram_size = 1}),
              ElementsAre(std::pair(3, kExclude), std::pair(4, kExclude)));
  EXPECT_THAT(adjustments({4, 3, 3}, {.repetition_penalty = 1.5}, {kEos}, true),
              ElementsAre(std::pair(kEos, kExclude), std::pair(3, 1.5F), std::pair(4, 1.5F)));
}

DecodeConfig long_search() { return {.beam_size = 3, .min_length = 8, .max_length = 12}; }

TEST(TokenRules, NoTranslationRepeatsAnNGram) {
  int repeats = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const std::int64_t n : {0, 2, 3}) {
      DecodeConfig config = long_search();
      config.no_repeat_ngram_size = n;
      const auto found = search(random_distribution(kMany, seed, 8), config, kMany).at(0);
      std::map<Tokens, int> counts;
      const auto size = static_cast<std::ptrdiff_t>(n == 0 ? 2 : n);
      for (auto at = found.tokens.begin(); at + size <= found.tokens.end(); ++at)
        ++counts[Tokens(at, at + size)];
      for (const auto& [ngram, count] : counts) {
        if (n == 0)
          repeats += count - 1;
        else
          EXPECT_EQ(count, 1);
      }
    }
  EXPECT_GT(repeats, 0) << "without the rule there would be some";
}

TEST(TokenRules, ARepetitionPenaltyMultipliesLogProbabilities) {
  const Distribution distribution = random_distribution(kMany, 3, 1);
  DecodeConfig config{.beam_size = 1, .min_length = 6, .max_length = 7};
  config.repetition_penalty = 3;
  const Hypothesis found = search(distribution, config, kMany).at(0);
  Tokens prefix;
  for (std::size_t t = 0; t < found.tokens.size(); ++t) {
    auto scores = distribution(kSource, prefix);
    if (t < 6) scores[kEos] = -INFINITY;
    for (const TokenId token : std::set<TokenId>(prefix.begin(), prefix.end()))
      scores[static_cast<std::size_t>(token)] *= 3;
    const auto best = std::max_element(scores.begin(), scores.end());
    EXPECT_EQ(found.tokens[t], best - scores.begin());
    EXPECT_FLOAT_EQ(found.log_probabilities[t], *best);
    prefix.push_back(found.tokens[t]);
  }
}

TEST(TokenRules, SuppressedAndAvoidedTokensDoNotAppear) {
  const TargetTokens tokens{.eos = kEos, .suppressed = {3, 6}, .avoided = {{4, 5}}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto found =
        search_and_count(random_distribution(kMany, seed), long_search(), kMany, tokens);
    for (const Hypothesis& hypothesis : found.hypotheses)
      for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
        EXPECT_NE(hypothesis.tokens[t], 3);
        EXPECT_NE(hypothesis.tokens[t], 6);
        if (t > 0 && hypothesis.tokens[t - 1] == 4) {
          EXPECT_NE(hypothesis.tokens[t], 5);
        }
      }
  }
}

TEST(TokenRules, TheSumIsThatOfTheLogProbabilities) {
  for (const DecodeConfig& config : {DecodeConfig{.beam_size = 4, .n_best = 4, .max_length = 6},
                                     DecodeConfig{.n_best = 4, .max_length = 6, .sampling = true}})
    for (const Hypothesis& found : search(random_distribution(kVocabulary, 5), config)) {
      ASSERT_EQ(static_cast<std::int64_t>(found.log_probabilities.size()), found.length);
      double sum = 0;
      for (const float log_probability : found.log_probabilities) sum += log_probability;
      EXPECT_NEAR(sum, found.sum, 1e-5);
    }
}

TEST(TokenRules, CoverageIsPenalisedAsGnmtDoes) {
  EXPECT_DOUBLE_EQ(coverage_penalty(std::vector<float>{1.5F, 1.0F}, 0.2), 0);
  EXPECT_NEAR(coverage_penalty(std::vector<float>{0.5F, 2.0F, 0.25F}, 0.2),
              0.2 * (std::log(0.5) + std::log(0.25)), 1e-7);

  DecodeConfig config{.beam_size = 4, .n_best = 4, .max_length = 6};
  config.coverage_penalty = 0.3;
  for (const Hypothesis& found : search(random_distribution(kVocabulary, 2), config)) {
    std::vector<float> coverage, step;
    Tokens prefix;
    for (std::int64_t t = 0; t < found.length; ++t) {
      step.clear();
      TableEngine::append_attention(kSource, prefix, step);
      coverage.resize(step.size());
      for (std::size_t i = 0; i < step.size(); ++i) coverage[i] += step[i];
      if (t < static_cast<std::int64_t>(found.tokens.size()))
        prefix.push_back(found.tokens[static_cast<std::size_t>(t)]);
    }
    EXPECT_NEAR(found.score,
                normalized_score(found.sum, found.length, config) + coverage_penalty(coverage, 0.3),
                1e-6);
    EXPECT_EQ(found.attention.size(), found.tokens.size() * kSource.size());
  }
}

TEST(TokenRules, TokensThatLengthenAWordAreExcludedInPlaceOfOtherAdjustments) {
  TargetTokens tokens{.eos = 2};
  std::vector<Adjustment> adjustments = {{0, 1, 2.0F}, {1, 1, 2.0F}, {1, 3, 2.0F}};
  const std::vector<Adjustment> before = adjustments;
  exclude_longer_word(1, tokens, adjustments);
  EXPECT_EQ(adjustments.size(), before.size()) << "no token is known to lengthen a word";
  const std::vector<TokenEdges> edges = {
      {}, {.lengthens_word = true}, {}, {}, {.lengthens_word = true}};
  tokens.edges = edges;
  exclude_longer_word(1, tokens, adjustments);
  ASSERT_EQ(adjustments.size(), 4u);
  EXPECT_EQ(adjustments[0].row, 0);
  EXPECT_EQ(adjustments[1].token, 3);
  EXPECT_EQ(adjustments[2].token, 1);
  EXPECT_EQ(adjustments[3].token, 4);
  EXPECT_EQ(adjustments[3].factor, kExclude);
}

}  // namespace
}  // namespace dragoman
