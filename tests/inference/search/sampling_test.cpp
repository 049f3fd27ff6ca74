#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/random.h"
#include "inference/search/search.h"
#include "tests/inference/table_search.h"

namespace dragoman {
namespace {

const std::vector<double> kProbabilities = {0.05, 0.4, 0.1, 0.25, 0.2};

std::vector<Candidate> table() {
  std::vector<Candidate> candidates;
  for (std::size_t i = 0; i < kProbabilities.size(); ++i)
    candidates.push_back(
        {static_cast<TokenId>(i), static_cast<float>(std::log(kProbabilities[i]))});
  return candidates;
}

/// Share of each token among many draws.
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
