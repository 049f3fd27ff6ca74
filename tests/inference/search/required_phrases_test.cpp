#include "inference/search/required_phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

constexpr std::int64_t kMany = 12;  // tokens

RequiredPhrases phrases(const std::vector<Tokens>& list) {
  std::vector<RequiredPhrase> required;
  for (const Tokens& tokens : list) required.push_back({.spellings = {{tokens}}});
  return RequiredPhrases(std::move(required));
}

/// How often the tokens have a phrase.
int count(const Tokens& tokens, const Tokens& phrase) {
  int found = 0;
  for (auto at = tokens.begin(); at != tokens.end(); ++at, ++found) {
    at = std::search(at, tokens.end(), phrase.begin(), phrase.end());
    if (at == tokens.end()) break;
  }
  return found;
}

TEST(Phrases, ProgressFollowsThePhrasesBegun) {
  const RequiredPhrases required = phrases({{3, 4}, {5}, {3, 6, 7}});
  EXPECT_EQ(required.tokens(), 6);
  PhraseProgress progress;
  EXPECT_EQ(required.tokens_left(progress), 6);
  EXPECT_EQ(required.phrases_left(progress), 3);
  progress = required.start(progress, 2, 0);
  EXPECT_EQ(required.tokens_left(progress), 5);
  EXPECT_EQ(required.phrases_left(progress), 2);
  EXPECT_EQ(required.next(progress), 6);
  progress = required.advance(progress);
  EXPECT_EQ(required.next(progress), 7);
  EXPECT_FALSE(progress.at_word_end);
  progress = required.advance(progress);
  EXPECT_TRUE(progress.at_word_end);
  EXPECT_LT(progress.phrase, 0);
  progress = required.start(required.advance(required.start(progress, 0, 0)), 1, 0);
  EXPECT_EQ(required.tokens_left(progress), 0);
}

TEST(Phrases, APhraseOfFortyThousandTokensIsFollowedToItsEnd) {
  const RequiredPhrases required = phrases({Tokens(39'999, 3)});
  PhraseProgress progress = required.start({}, 0, 0);
  for (int i = 1; i < 39'999; ++i) {
    ASSERT_EQ(progress.phrase, 0) << i;
    ASSERT_EQ(required.next(progress), 3) << i;
    progress = required.advance(progress);
  }
  EXPECT_LT(progress.phrase, 0);
}

TEST(Phrases, EveryTranslationHasItsPhrases) {
  const std::vector<std::vector<Tokens>> lists = {
      {{3}}, {{4, 5, 6}}, {{7, 8}, {9}}, {{3, 4}, {4, 3}, {10, 11, 10}}, {{5}, {5}, {5}}};
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    for (const auto& list : lists)
      for (const std::int64_t beam : {1, 2, 5})
        for (const std::int64_t longest : {0, 12}) {
          DecodeConfig config{.beam_size = beam, .n_best = beam};
          config.max_length = longest;
          const auto found =
              search_and_count(random_distribution(kMany, seed, 6, seed % 2 == 0 ? 2 : -2), config,
                               kMany, {kEos}, {.phrases = phrases(list)});
          for (const Hypothesis& hypothesis : found.hypotheses)
            for (const Tokens& phrase : list)
              EXPECT_GE(count(hypothesis.tokens, phrase),
                        std::count(list.begin(), list.end(), phrase));
        }
}

TEST(Phrases, ASentenceWithoutPhrasesIsTranslatedAsUsual) {
  const DecodeConfig config{.beam_size = 2, .n_best = 2};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Distribution distribution = random_distribution(kMany, seed);
    const auto plain = search(distribution, config, kMany);
    TableEngine engine(kMany, distribution);
    LoneWorker worker(engine, config, {kEos});
    worker.add({{.line = 0, .part = 0, .tokens = kSource, .needs_attention = true}});
    std::vector<SourceSentence> finished;
    while (finished.empty()) finished = worker.step();
    const std::vector<Hypothesis>& found = finished[0].hypotheses;
    ASSERT_EQ(found.size(), plain.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].tokens, plain[i].tokens);
      EXPECT_EQ(found[i].attention.size(), found[i].tokens.size() * kSource.size());
    }
  }
}

TEST(Phrases, TheWordAtTheEndOfAPhraseIsNotLengthened) {
  std::vector<TokenEdges> edges;
  for (TokenId token = 0; token < kMany; ++token) edges.push_back({.lengthens_word = token >= 6});
  const TargetTokens tokens{.eos = kEos, .edges = edges};
  DecodeConfig config{.beam_size = 3, .min_length = 6, .max_length = 12};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto found = search_and_count(random_distribution(kMany, seed), config, kMany, tokens,
                                        {.phrases = phrases({{3, 4}})})
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
        search_and_count(distribution, config, kMany, {kEos}, {.prefix = {.tokens = prefix}});
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

/// The extensions that PhraseBeam::extend makes of a row with these candidates, by phrases met and
/// token.
std::vector<std::pair<std::uint64_t, TokenId>> extended(const PhraseRow& row,
                                                        const RequiredPhrases& required,
                                                        const TargetTokens& tokens,
                                                        PhrasePolicy policy,
                                                        std::int64_t room = 50) {
  std::vector<PhraseExtension> pool;
  PhraseBeam(required, tokens, policy).extend(row, room, pool);
  std::vector<std::pair<std::uint64_t, TokenId>> found;
  for (const PhraseExtension& extension : pool)
    found.emplace_back(extension.progress.begun, extension.extension.token);
  return found;
}

TEST(PhraseBeam, BanksShareTheBeam) {
  const RequiredPhrases required = phrases({{3}, {4}});
  const TargetTokens tokens{kEos};
  std::vector<PhraseExtension> pool;
  for (const auto& [met, token, sum] : std::vector<std::tuple<int, TokenId, double>>{
           {0, 3, -1}, {0, 4, -2}, {0, 5, -3}, {3, 6, -9}, {3, 7, -8}}) {
    pool.push_back({{0, token, sum}, {}});
    pool.back().progress.begun = static_cast<std::uint64_t>(met);
  }
  PhraseBeam(required, tokens, PhrasePolicy::Always).keep(pool, 3);
  ASSERT_EQ(pool.size(), 3u);
  EXPECT_EQ(pool[0].extension.token, 7) << "the best of those that miss least";
  EXPECT_EQ(pool[1].extension.token, 3);
  EXPECT_EQ(pool[2].extension.token, 6);
}

TEST(PhraseBeam, APhraseBeginsBetweenWordsOnly) {
  const RequiredPhrases required = phrases({{3, 4}});
  std::vector<TokenEdges> edges(kMany);
  const TargetTokens tokens{.eos = kEos, .edges = edges};
  edges[7].lengthens_word = true;
  const std::vector<Candidate> word = {{6, -0.5F}, {7, -1}}, end = {{7, -0.5F}, {6, -1}};
  const std::vector<RowToken> reported = {{0, 3}};
  const std::vector<float> log_probability = {-9};
  const PhraseProgress none;
  PhraseRow row{0, 5, 0, none, word, reported, log_probability, {}};
  using testing::ElementsAre, testing::Pair;
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Fluent),
              ElementsAre(Pair(0, 6), Pair(0, 7), Pair(1, 3)));
  row.candidates = end;
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Fluent),
              ElementsAre(Pair(0, 7), Pair(0, 6)))
      << "the word continues";
}

TEST(PhraseBeam, AnAttachedSpellingStandsAtOpeningPunctuation) {
  const RequiredPhrases required({{.spellings = {{{3}}, {{4}, PhraseStart::Attached}}}});
  std::vector<TokenEdges> edges(kMany);
  const TargetTokens tokens{.eos = kEos, .edges = edges};
  edges[5].opens = true;
  const std::vector<RowToken> reported = {{0, 3}, {0, 4}};
  const std::vector<float> log_probabilities = {-9, -9};
  const PhraseProgress none;
  PhraseRow row{0, 6, 0, none, {}, reported, log_probabilities, {}};
  using testing::ElementsAre, testing::Pair;
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Fluent), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Always, 2), ElementsAre(Pair(1, 3)))
      << "not even where nothing else fits";
  row.previous = 5;
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Fluent),
              ElementsAre(Pair(1, 3), Pair(1, 4)));
}

TEST(PhraseBeam, NothingButAPhraseThatMustComeFollowsAFinishedSentence) {
  const RequiredPhrases required = phrases({{3, 4}});
  const TargetTokens tokens{kEos};
  const std::vector<Candidate> candidates = {{kEos, -0.1F}, {6, -1}};
  const std::vector<RowToken> reported = {{0, 3}};
  const std::vector<float> log_probability = {-9};
  const PhraseProgress none, met{.begun = 1};
  PhraseRow row{0, 5, 0, none, candidates, reported, log_probability, {}};
  using testing::ElementsAre, testing::Pair;
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Fluent), ElementsAre(Pair(0, kEos)));
  EXPECT_THAT(extended(row, required, tokens, PhrasePolicy::Always), ElementsAre(Pair(1, 3)));
  const PhraseRow complete{0, 5, 0, met, candidates, {}, {}, {}};
  for (const PhrasePolicy policy : {PhrasePolicy::Fluent, PhrasePolicy::Always})
    EXPECT_THAT(extended(complete, required, tokens, policy), ElementsAre(Pair(1, kEos)));
}

TEST(Phrases, ATranslationWithPhrasesMayEndAtTheMaximumLength) {
  const Tokens whole = {6, 3, 4, 7, 8};
  const Distribution writes = [&whole](const Tokens&, const Tokens& prefix) {
    std::vector<float> scores(kMany, -9);
    scores[static_cast<std::size_t>(prefix.size() < whole.size() ? whole[prefix.size()] : kEos)] =
        -0.01F;
    return scores;
  };
  DecodeConfig config{.beam_size = 2};
  config.max_length = static_cast<std::int64_t>(whole.size()) + 1;
  const auto found = search_and_count(writes, config, kMany, {kEos}, {.phrases = phrases({{3, 4}})})
                         .hypotheses.at(0);
  EXPECT_EQ(found.tokens, whole);
  EXPECT_FALSE(found.cut);
}

TEST(PhraseBeam, AHypothesisRanksByTheAttentionThatAPhraseGets) {
  const std::vector<RequiredPhrase> list = {
      {.spellings = {{{3, 4}}}, .ends_word = true, .begin = 1, .end = 2, .source_pieces = 3}};
  const RequiredPhrases required(list);
  const TargetTokens tokens{kEos};
  const std::vector<Candidate> candidates = {{6, -1}};
  const std::vector<RowToken> reported = {{0, 3}};
  const std::vector<float> log_probability = {-9}, here = {0.1F, 0.7F, 0.2F},
                           elsewhere = {0.7F, 0.1F, 0.2F};
  const PhraseProgress none;
  const PhraseBeam beam(required, tokens, PhrasePolicy::Fluent);
  std::vector<PhraseExtension> near, far;
  beam.extend({0, 5, 0, none, candidates, reported, log_probability, here}, 50, near);
  beam.extend({0, 5, 0, none, candidates, reported, log_probability, elsewhere}, 50, far);
  ASSERT_EQ(near.size(), 2u);
  EXPECT_GT(near[1].merit(), far[1].merit()) << "the phrase where its source is looked at";
  EXPECT_LT(near[0].merit(), far[0].merit()) << "something else there";
}

TEST(RequiredPhrase, TheAttentionOfAPhraseIsThatToPiecesAlone) {
  const RequiredPhrase phrase{.spellings = {{{3, 4}}}, .begin = 2, .end = 3, .source_pieces = 3};
  const std::vector<float> with_end = {0.3F, 0.1F, 0.1F, 0.5F}, without_end = {0.6F, 0.2F, 0.2F};
  EXPECT_NEAR(phrase.attention(with_end), 0.2, 1e-6);
  EXPECT_NEAR(phrase.attention(without_end), 0.2, 1e-6);
}

}  // namespace
}  // namespace dragoman
