#include "inference/search/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

struct Sequence {
  Tokens tokens;
  double sum = 0;
  std::int64_t length = 0;
};

double score_of(const Sequence& s, const DecodeConfig& config) {
  return normalized_score(s.sum, s.length, config);
}

void sort_by_score(std::vector<Sequence>& sequences, const DecodeConfig& config) {
  std::stable_sort(sequences.begin(), sequences.end(), [&](const Sequence& a, const Sequence& b) {
    return score_of(a, config) > score_of(b, config);
  });
}

/// All sequences that end within config.max_length, and those that are cut there.
void list_all(const Distribution& distribution, const DecodeConfig& config, const Sequence& prefix,
              std::vector<Sequence>& found) {
  const std::vector<float> scores = distribution(kSource, prefix.tokens);
  for (std::size_t token = 0; token < scores.size(); ++token) {
    Sequence next{prefix.tokens, prefix.sum + scores[token], prefix.length + 1};
    if (token == kEos) {
      if (static_cast<std::int64_t>(prefix.tokens.size()) >= config.min_length)
        found.push_back(next);
      continue;
    }
    next.tokens.push_back(static_cast<TokenId>(token));
    if (next.length == config.max_length)
      found.push_back(next);
    else
      list_all(distribution, config, next, found);
  }
}

/// Beam search as it is defined, without any bookkeeping of rows. `ends` decides by the finished
/// sequences so far (best first), the open ones (best first) and the step.
using Ends = std::function<bool(const std::vector<Sequence>&, const std::vector<Sequence>&)>;

struct PlainBeam {
  std::vector<Sequence> finished;
  std::int64_t steps = 0;
};

PlainBeam plain_beam_search(const Distribution& distribution, const DecodeConfig& config,
                            const Ends& ends) {
  const auto beam = static_cast<std::size_t>(config.beam_size);
  std::vector<Sequence> open = {{}}, finished;
  std::int64_t steps = 0;
  for (std::int64_t length = 1; length <= config.max_length && !open.empty(); ++length) {
    std::vector<std::pair<Sequence, TokenId>> extensions;
    for (const Sequence& sequence : open) {
      const std::vector<float> scores = distribution(kSource, sequence.tokens);
      for (std::size_t token = 0; token < scores.size(); ++token)
        extensions.push_back(
            {{sequence.tokens, sequence.sum + scores[token], length}, static_cast<TokenId>(token)});
    }
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const auto& a, const auto& b) { return a.first.sum > b.first.sum; });
    open.clear();
    for (std::size_t rank = 0; rank < extensions.size() && open.size() < beam; ++rank) {
      auto& [sequence, token] = extensions[rank];
      if (token == kEos) {
        if (rank < beam) finished.push_back(sequence);
        continue;
      }
      sequence.tokens.push_back(token);
      open.push_back(sequence);
    }
    if (length == config.max_length) finished.insert(finished.end(), open.begin(), open.end());
    sort_by_score(finished, config);
    ++steps;
    if (ends(finished, open)) break;
  }
  return {finished, steps};
}

void expect_same(const std::vector<Hypothesis>& found, const std::vector<Sequence>& expected) {
  ASSERT_LE(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].tokens, expected[i].tokens) << i;
    EXPECT_NEAR(found[i].sum, expected[i].sum, 1e-9);
    EXPECT_EQ(found[i].length, expected[i].length);
  }
}

TEST(Search, AFullWidthBeamFindsTheNBestOfAllSequences) {
  for (const LengthPenalty kind : {LengthPenalty::Average, LengthPenalty::Gnmt}) {
    for (const double alpha : {0.0, 0.6, 1.0, 2.0}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        DecodeConfig config{.beam_size = 400, .n_best = 30, .length_penalty = alpha};
        config.length_penalty_kind = kind;
        config.max_length = 4;
        const Distribution distribution = random_distribution(kVocabulary, seed);
        std::vector<Sequence> all;
        list_all(distribution, config, {}, all);
        ASSERT_EQ(all.size(), 1u + 4 + 16 + 64 + 256);
        sort_by_score(all, config);
        const auto found = search(distribution, config);
        ASSERT_EQ(found.size(), 30u);
        expect_same(found, all);
      }
    }
  }
}

TEST(Search, ABeamOfOneIsGreedy) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Distribution distribution = random_distribution(kVocabulary, seed);
    Sequence greedy;
    while (greedy.length < 50) {
      const auto scores = distribution(kSource, greedy.tokens);
      const auto best = std::max_element(scores.begin(), scores.end());
      greedy.sum += *best;
      ++greedy.length;
      if (best - scores.begin() == kEos) break;
      greedy.tokens.push_back(static_cast<TokenId>(best - scores.begin()));
    }
    expect_same(search(distribution, {.beam_size = 1}), {greedy});
  }
}

void expect_same_search(const Found& found, const PlainBeam& expected) {
  expect_same(found.hypotheses, expected.finished);
  EXPECT_EQ(found.steps, expected.steps);
}

TEST(Search, TheRulesFullAndExactStopAsTheirDefinitionsSay) {
  std::int64_t exact_steps = 0, all_steps = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    for (const std::int64_t beam : {2, 3, 5}) {
      const Distribution distribution = random_distribution(kVocabulary, seed, 4, -1);
      DecodeConfig config{.beam_size = beam, .n_best = 2, .max_length = 9};
      config.length_penalty = seed % 2 == 0 ? 1.0 : 0.2;
      config.word_penalty = seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? 0.3 : -0.3;
      const auto width = static_cast<std::size_t>(beam);
      const auto full = [&](auto& done, auto& open) {
        return open.empty() || done.size() >= width;
      };
      const auto never = [](auto&, auto& open) { return open.empty(); };

      config.stop = Stop::Full;
      expect_same_search(search_and_count(distribution, config),
                         plain_beam_search(distribution, config, full));
      config.stop = Stop::Exact;
      const Found exact = search_and_count(distribution, config);
      const PlainBeam all = plain_beam_search(distribution, config, never);
      expect_same(exact.hypotheses, all.finished);
      exact_steps += exact.steps;
      all_steps += all.steps;
    }
  }
  EXPECT_LT(exact_steps, all_steps);
}

TEST(Search, StoppingExactlyNeverScoresWorseAndSometimesBetter) {
  int better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Distribution distribution = random_distribution(kVocabulary, seed, 4, -1);
    DecodeConfig config{.beam_size = 2, .max_length = 12};
    const double full = search(distribution, config).at(0).score;
    config.stop = Stop::Exact;
    const double exact = search(distribution, config).at(0).score;
    EXPECT_GE(exact, full);
    if (exact > full) ++better;
  }
  EXPECT_GT(better, 0);
}

TEST(Search, NBestAreSortedAndDistinct) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto found = search(random_distribution(kVocabulary, seed),
                              {.beam_size = 8, .n_best = 8, .max_length = 10});
    ASSERT_EQ(found.size(), 8u);
    std::set<std::pair<Tokens, bool>> distinct;
    for (std::size_t i = 0; i < found.size(); ++i) {
      distinct.insert({found[i].tokens, found[i].cut});
      EXPECT_GE(found[i == 0 ? 0 : i - 1].score, found[i].score);
    }
    EXPECT_EQ(distinct.size(), 8u);
  }
}

TEST(Search, ScoresAreDividedByTheLengthPenalty) {
  DecodeConfig config;
  EXPECT_DOUBLE_EQ(normalized_score(-6, 4, config), -1.5);
  config.length_penalty = 0;
  EXPECT_DOUBLE_EQ(normalized_score(-6, 4, config), -6);
  config.length_penalty = 0.5;
  EXPECT_DOUBLE_EQ(normalized_score(-6, 4, config), -3);
  config.length_penalty_kind = LengthPenalty::Gnmt;
  EXPECT_DOUBLE_EQ(normalized_score(-6, 19, config), -3);  // ((5 + 19) / 6)^0.5 = 2
}

TEST(Search, NoTranslationIsShorterThanTheMinimumLength) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Distribution distribution = random_distribution(kVocabulary, seed, 3, 2);
    DecodeConfig config{.beam_size = 400, .n_best = 10, .min_length = 3};
    config.max_length = 4;
    std::vector<Sequence> all;
    list_all(distribution, config, {}, all);
    sort_by_score(all, config);
    const auto found = search(distribution, config);
    expect_same(found, all);
    for (const Hypothesis& hypothesis : found) EXPECT_GE(hypothesis.tokens.size(), 3u);
  }
}

TEST(Search, AMinimumLengthThatIsTheMaximumIsTheNumberOfPieces) {
  const Distribution brief = random_distribution(kVocabulary, 1, 3, 9);
  for (const DecodeConfig& config :
       {DecodeConfig{.beam_size = 1, .min_length = 6, .max_length = 6},
        DecodeConfig{.beam_size = 3, .min_length = 6, .max_length = 6},
        DecodeConfig{.min_length = 6, .max_length = 6, .sampling = true}}) {
    const auto found = search(brief, config).at(0);
    EXPECT_EQ(found.tokens.size(), 6u);
    EXPECT_TRUE(found.cut);
  }
}

TEST(Search, ATranslationThatDoesNotEndIsCutAtTheMaximumLength) {
  const Distribution endless = random_distribution(kVocabulary, 1, 3, -50);
  const auto found = search(endless, {.beam_size = 3, .max_length = 7}).at(0);
  EXPECT_EQ(found.tokens.size(), 7u);
  EXPECT_EQ(found.length, 7);
  EXPECT_TRUE(found.cut);
  const auto ended = search(random_distribution(kVocabulary, 1, 3, 50), {}).at(0);
  EXPECT_TRUE(ended.tokens.empty());
  EXPECT_EQ(ended.length, 1);
  EXPECT_FALSE(ended.cut);
}

TEST(Search, TheMaximumLengthFollowsTheSourceWithAFloor) {
  const DecodeConfig config{.max_length_ratio = 2.5};
  EXPECT_EQ(config.max_target_length(1), 50);
  EXPECT_EQ(config.max_target_length(41), 103);
  const DecodeConfig absolute{.max_length = 60, .max_length_ratio = 2.5};
  EXPECT_EQ(absolute.max_target_length(1), 50);
  EXPECT_EQ(absolute.max_target_length(41), 60);
}

TEST(Search, TheWorkedStepOfTheHeaderIsWhatItDoes) {
  constexpr TokenId kEin = 3, kDer = 4, kHund = 5, kMann = 6;
  const DecodeConfig config{.beam_size = 2, .n_best = 2};
  const TargetTokens tokens{.eos = kEos};
  SentenceSearch search(config, tokens, 10, 0);
  search.advance({.candidates = std::vector<Candidate>{{kEin, -0.4F}, {kDer, -1.1F}, {kEos, -9}}});
  search.advance({.candidates = std::vector<Candidate>{{kHund, -0.5F},
                                                       {kMann, -1.8F},
                                                       {kEos, -3.0F},
                                                       {kEos, -0.8F},
                                                       {kHund, -0.9F},
                                                       {kMann, -2.3F}}});
  ASSERT_EQ(search.rows().size(), 2u);
  for (const std::int32_t row : {0, 1}) {
    const SentenceSearch::Row& kept = search.rows()[static_cast<std::size_t>(row)];
    EXPECT_EQ(kept.parent, row);
    EXPECT_EQ(kept.previous, kHund);
    EXPECT_NEAR(kept.sum, row == 0 ? -0.9 : -2.0, 1e-6);
  }
  ASSERT_EQ(search.best().size(), 1u);
  EXPECT_EQ(search.best().front().tokens, Tokens{kDer});
  EXPECT_NEAR(search.best().front().score, -1.9 / 2, 1e-6);
}

TEST(Search, TiesGoByRowThenToken) {
  std::vector<Extension> kept = {{1, 7, -1}, {0, 9, -1}, {0, 3, -1}, {1, 1, -0.5}};
  keep_beam(kept, 3, kEos);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[0].token, 1);
  EXPECT_EQ(kept[1].token, 3);
  EXPECT_EQ(kept[2].token, 9);
}

TEST(Search, AnEndOutsideTheBeamIsNotKept) {
  const std::vector<Extension> all = {{0, 3, -1}, {0, 4, -2}, {1, kEos, -3}, {1, 3, -4}};
  std::vector<Extension> kept = all, wider = all;
  keep_beam(kept, 2, kEos);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[1].token, 4);
  keep_beam(wider, 3, kEos);
  EXPECT_EQ(wider.size(), 4u);
}

TEST(Search, ProbabilitiesThatAreNotNumbersAreAnError) {
  const Distribution broken = [](const Tokens&, const Tokens&) {
    return std::vector<float>(kVocabulary, std::numeric_limits<float>::quiet_NaN());
  };
  EXPECT_THROW(search(broken, {}), Error);
  EXPECT_THROW(search(broken, {.sampling = true}), Error);
}

TEST(Search, ATranslationThatHasEndedComesBeforeDeadEnds) {
  const Distribution dead = [](const Tokens&, const Tokens& prefix) {
    return prefix.empty() ? log_softmax({0, 0, 3, 5, 0})
                          : std::vector<float>(kVocabulary, -INFINITY);
  };
  for (const Stop stop :
       {Stop::Full, Stop::Exact, Stop::Hf, Stop::Marian, Stop::Fairseq, Stop::Opennmt}) {
    const auto found = search(dead, {.beam_size = 3, .n_best = 3, .stop = stop});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_TRUE(found[0].tokens.empty());
    EXPECT_FALSE(found[0].cut);
  }
}

TEST(Search, ADeadEndEndsTheTranslation) {
  const Distribution dead = [](const Tokens&, const Tokens& prefix) {
    return prefix.size() < 2 ? log_softmax({0, 1, -INFINITY, 2, 3})
                             : std::vector<float>(kVocabulary, -INFINITY);
  };
  for (const DecodeConfig& config : {DecodeConfig{}, DecodeConfig{.sampling = true}}) {
    const auto found = search(dead, config);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tokens.size(), 2u);
    EXPECT_TRUE(found[0].cut);
  }
}

const std::vector<double> kProbabilities = {0.05, 0.4, 0.1, 0.25, 0.2};

std::vector<Candidate> table() {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < kProbabilities.size(); ++i)
    candidates.push_back(
        {static_cast<TokenId>(i), static_cast<float>(std::log(kProbabilities[i]))});
  return candidates;
}

/// The share of each token among many draws.
std::vector<double> frequencies(const DecodeConfig& config) {
  const std::vector<Candidate> candidates = table();
  std::vector<double> shares(candidates.size());
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t index = draw(candidates, config, uniform_of(random_bits(5, i)));
    shares[static_cast<std::size_t>(index)] += 1.0 / kDraws;
  }
  return shares;
}

// Four standard deviations of a share of 20,000 draws are at most 0.0142.
void expect_near(const std::vector<double>& shares, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], expected[i], 0.0142) << i;
}

TEST(Sampling, DrawsFollowTheDistribution) {
  expect_near(frequencies({.sampling = true}), kProbabilities);
}

TEST(Sampling, TopKDrawsFollowTheRenormalisedDistribution) {
  expect_near(frequencies({.sampling = true, .sampling_topk = 2}),
              {0, 0.4 / 0.65, 0, 0.25 / 0.65, 0});
}

TEST(Sampling, TopPDrawsFromTheSmallestSetThatHasTheProbability) {
  const std::vector<double> three = {0, 0.4 / 0.85, 0, 0.25 / 0.85, 0.2 / 0.85};
  expect_near(frequencies({.sampling = true, .sampling_topp = 0.7}), three);
  expect_near(frequencies({.sampling = true, .sampling_topp = 0.84}), three);
  expect_near(frequencies({.sampling = true, .sampling_topp = 0.01}), {0, 1, 0, 0, 0});
}

TEST(Sampling, TemperatureSharpensAndFlattens) {
  double total = 0;
  std::vector<double> squared, root;
  for (const double p : kProbabilities) total += p * p;
  for (const double p : kProbabilities) squared.push_back(p * p / total);
  total = 0;
  for (const double p : kProbabilities) total += std::sqrt(p);
  for (const double p : kProbabilities) root.push_back(std::sqrt(p) / total);
  expect_near(frequencies({.sampling = true, .temperature = 0.5}), squared);
  expect_near(frequencies({.sampling = true, .temperature = 2}), root);
}

TEST(Sampling, TheEdgesOfTheUniformRangeDrawPossibleTokens) {
  std::vector<Candidate> candidates = table();
  candidates.front().log_probability = candidates.back().log_probability = -INFINITY;
  const DecodeConfig config{.sampling = true};
  EXPECT_EQ(draw(candidates, config, 0.0), 1);
  EXPECT_EQ(draw(candidates, config, std::nextafter(1.0, 0.0)), 3);
}

TEST(Sampling, OneOfTopKIsGreedyAndScoresAreTheModels) {
  const Distribution distribution = random_distribution(kVocabulary, 3);
  const auto greedy = search(distribution, {.beam_size = 1}).at(0);
  const auto sampled =
      search(distribution, {.sampling = true, .sampling_topk = 1, .temperature = 3}).at(0);
  EXPECT_EQ(sampled.tokens, greedy.tokens);
  EXPECT_DOUBLE_EQ(sampled.score, greedy.score);
}

TEST(Sampling, TheSeedDecidesAndSamplesDiffer) {
  const Distribution distribution = random_distribution(8, 3, 1);
  DecodeConfig config{.beam_size = 1, .n_best = 6, .sampling = true};
  const auto first = search(distribution, config, 8), again = search(distribution, config, 8);
  ASSERT_EQ(first.size(), 6u);
  std::set<Tokens> distinct;
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(first[i].tokens, again[i].tokens);
    distinct.insert(first[i].tokens);
  }
  EXPECT_GT(distinct.size(), 1u);
  config.seed = 2;
  EXPECT_NE(search(distribution, config, 8)[0].tokens, first[0].tokens);
}

}  // namespace
}  // namespace dragoman
