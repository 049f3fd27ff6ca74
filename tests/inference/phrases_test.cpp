#include "inference/phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

constexpr std::int64_t kMany = 12;  // tokens

RequiredPhrases phrases(const std::vector<Tokens>& list) {
  std::vector<RequiredPhrase> required;
  for (const Tokens& tokens : list) required.push_back({.tokens = tokens});
  return RequiredPhrases(std::move(required));
}

/// How often a phrase stands in the tokens.
int count(const Tokens& tokens, const Tokens& phrase) {
  int found = 0;
  for (auto at = tokens.begin(); at != tokens.end(); ++at, ++found) {
    at = std::search(at, tokens.end(), phrase.begin(), phrase.end());
    if (at == tokens.end()) break;
  }
  return found;
}

TEST(Phrases, ProgressFollowsTheTokens) {
  const RequiredPhrases required = phrases({{3, 4}, {5}, {3, 6}});
  EXPECT_EQ(required.tokens(), 5);
  PhraseProgress progress;
  EXPECT_EQ(required.missing(progress), 5);
  progress = required.after(progress, 3);  // begins the first phrase
  EXPECT_EQ(required.missing(progress), 4);
  std::vector<TokenId> next;
  required.next_tokens(progress, next);
  EXPECT_THAT(next, testing::ElementsAre(4));
  progress = required.after(progress, 5);  // breaks it, and is the second
  EXPECT_EQ(required.missing(progress), 4);
  EXPECT_TRUE(progress.at_word_end);
  next.clear();
  required.next_tokens(progress, next);
  EXPECT_THAT(next, testing::ElementsAre(3)) << "begins both that are left";
  for (const TokenId token : {3, 4, 9, 3, 6}) progress = required.after(progress, token);
  EXPECT_EQ(required.missing(progress), 0);
}

TEST(Phrases, EveryTranslationHasThem) {
  const std::vector<std::vector<Tokens>> lists = {
      {{3}}, {{4, 5, 6}}, {{7, 8}, {9}}, {{3, 4}, {4, 3}, {10, 11, 10}}, {{5}, {5}, {5}}};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const auto& list : lists)
      for (const std::int64_t beam : {1, 2, 5})
        for (const std::int64_t longest : {0, 12}) {
          DecodeConfig config{.beam_size = beam, .n_best = beam};
          config.max_length = longest;
          config.requires_phrases = true;
          const auto found =
              search_and_count(random_distribution(kMany, seed, 6, seed % 2 == 0 ? 2 : -2), config,
                               kMany, {kEos}, {.prefix = {}, .phrases = phrases(list)});
          for (const Hypothesis& hypothesis : found.hypotheses)
            for (const Tokens& phrase : list)
              EXPECT_GE(count(hypothesis.tokens, phrase),
                        std::count(list.begin(), list.end(), phrase));
        }
}

TEST(Phrases, ASentenceWithoutAnyIsTranslatedAsEver) {
  DecodeConfig config{.beam_size = 2, .n_best = 2};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Distribution distribution = random_distribution(kMany, seed);
    const auto plain = search(distribution, config, kMany);
    config.requires_phrases = true;
    const auto found = search(distribution, config, kMany);
    config.requires_phrases = false;
    ASSERT_EQ(found.size(), plain.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].tokens, plain[i].tokens);
  }
}

TEST(Phrases, WhatIsFoundAnywayChangesNothing) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Distribution distribution = random_distribution(kMany, seed, 9);
    DecodeConfig config{.beam_size = 60, .min_length = 4, .max_length = 10};
    const Tokens plain = search(distribution, config, kMany).at(0).tokens;
    config.requires_phrases = true;
    const auto found = search_and_count(distribution, config, kMany, {kEos},
                                        {.prefix = {}, .phrases = phrases({{plain[1], plain[2]}})});
    EXPECT_EQ(found.hypotheses.at(0).tokens, plain);
  }
}

TEST(Phrases, TheWordAtTheirEndIsNotLengthened) {
  TargetTokens tokens{.eos = kEos};
  for (TokenId token = 0; token < kMany; ++token) tokens.lengthens_word.push_back(token >= 6);
  DecodeConfig config{.beam_size = 3, .min_length = 6, .max_length = 12};
  config.requires_phrases = true;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto found = search_and_count(random_distribution(kMany, seed), config, kMany, tokens,
                                        {.prefix = {}, .phrases = phrases({{3, 4}})})
                           .hypotheses.at(0)
                           .tokens;
    const Tokens phrase = {3, 4};
    bool alone = false;
    for (auto at = found.begin();; ++at) {
      at = std::search(at, found.end(), phrase.begin(), phrase.end());
      if (at == found.end()) break;
      alone = alone || at + 2 == found.end() || *(at + 2) < 6;
    }
    EXPECT_TRUE(alone) << seed;
  }
}

TEST(Phrases, APrefixBeginsTheTranslation) {
  const Distribution distribution = random_distribution(kMany, 4);
  const Tokens prefix = {9, 3, 9};
  for (const DecodeConfig& config :
       {DecodeConfig{.beam_size = 1}, DecodeConfig{.beam_size = 4, .n_best = 4},
        DecodeConfig{.n_best = 3, .sampling = true}}) {
    const auto found =
        search_and_count(distribution, config, kMany, {kEos}, {.prefix = prefix, .phrases = {}});
    EXPECT_EQ(found.hypotheses.size(), static_cast<std::size_t>(config.n_best));
    for (const Hypothesis& hypothesis : found.hypotheses) {
      ASSERT_GE(hypothesis.tokens.size(), prefix.size());
      EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), hypothesis.tokens.begin()));
      Tokens before;
      for (std::size_t t = 0; t < hypothesis.tokens.size(); ++t) {
        const auto scores = distribution(kSource, before);
        EXPECT_NEAR(hypothesis.log_probabilities[t],
                    scores[static_cast<std::size_t>(hypothesis.tokens[t])], 1e-5);
        before.push_back(hypothesis.tokens[t]);
      }
    }
  }
}

TEST(Phrases, BanksShareTheBeam) {
  const std::vector<Extension> pool = {{0, 3, -1}, {0, 4, -2}, {0, 5, -3}, {1, 6, -9}, {1, 7, -8}};
  const std::vector<std::int64_t> missing = {2, 2, 2, 0, 0};
  const auto kept = keep_beam_by_missing(pool, missing, 3, kEos);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].token, 7) << "the best of those that miss least";
  EXPECT_EQ(kept[1].token, 3);
  EXPECT_EQ(kept[2].token, 6);
}

}  // namespace
}  // namespace dragoman
