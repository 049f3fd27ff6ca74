#include "data/alignment/hidden_markov.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace dragoman {

namespace {

struct Example {
  std::size_t states;
  std::vector<float> emission, from_null;
  JumpWeights weights;

  HmmInput input() const { return {states, emission, from_null}; }
};

Example random_example(std::size_t states, std::size_t observed, std::uint64_t seed) {
  RandomStream random(seed, states, observed);
  const auto draw = [&] { return static_cast<float>(0.01 + random.uniform()); };
  Example example{.states = states, .emission = {}, .from_null = {}, .weights = {}};
  for (std::size_t i = 0; i < states * observed; ++i) example.emission.push_back(draw());
  for (std::size_t j = 0; j < observed; ++j) example.from_null.push_back(draw());
  for (float& weight : example.weights.jumps) weight = draw();
  for (float& weight : example.weights.first) weight = draw();
  return example;
}

/// The index of a jump among the weights.
std::size_t jump_index(std::size_t from, std::size_t to) {
  const auto near = static_cast<std::ptrdiff_t>(kNearJump);
  const auto jump = static_cast<std::ptrdiff_t>(to) - static_cast<std::ptrdiff_t>(from);
  return static_cast<std::size_t>(std::clamp(jump, -near - 1, near + 1) + near + 1);
}

/// All sequences of states, one after the other.
struct BruteForce {
  double likelihood = 0;
  std::vector<double> links;  ///< [J * I], times the likelihood
  JumpCounts jumps;           ///< likewise

  explicit BruteForce(const Example& example)
      : links(example.emission.size(), 0), example_(example) {
    visit(0, example.states, 1, {});
  }

 private:
  double first(std::size_t to) const {
    double all = 0;
    for (std::size_t i = 0; i < example_.states; ++i) all += weight_of_first(i);
    return weight_of_first(to) / all;
  }
  double weight_of_first(std::size_t to) const {
    return example_.weights.first[std::min(to, kNearJump)];
  }
  double jump(std::size_t from, std::size_t to) const {
    double all = 0;
    for (std::size_t i = 0; i < example_.states; ++i)
      all += example_.weights.jumps[jump_index(from, i)];
    return example_.weights.jumps[jump_index(from, to)] / all;
  }

  /// `last`: the last state, or I before the first one.
  void visit(std::size_t j, std::size_t last, double so_far, std::vector<std::size_t> path) {
    if (j == example_.from_null.size()) return count(so_far, path);
    path.push_back(example_.states);
    visit(j + 1, last, so_far * kNullProbability * example_.from_null[j], path);
    for (std::size_t i = 0; i < example_.states; ++i) {
      path.back() = i;
      const double arrival = last == example_.states ? first(i) : jump(last, i);
      visit(j + 1, i,
            so_far * (1 - kNullProbability) * arrival * example_.emission[j * example_.states + i],
            path);
    }
  }

  void count(double probability, const std::vector<std::size_t>& path) {
    likelihood += probability;
    std::size_t last = example_.states;
    for (std::size_t j = 0; j < path.size(); ++j) {
      if (path[j] == example_.states) continue;
      links[j * example_.states + path[j]] += probability;
      if (last == example_.states)
        jumps.first_made[std::min(path[j], kNearJump)] += probability;
      else
        jumps.made[jump_index(last, path[j])] += probability;
      last = path[j];
    }
  }

  const Example& example_;
};

TEST(HiddenMarkov, PosteriorsAreThoseOfAllSequencesOfStates) {
  HmmPosteriors posteriors;  // one object for all, as in training
  for (const auto& [states, observed] :
       {std::pair<std::size_t, std::size_t>{1, 1}, {3, 4}, {1, 5}, {6, 1}, {12, 3}, {20, 2}}) {
    const Example example = random_example(states, observed, 5);
    const BruteForce expected(example);
    posteriors.run(example.input(), example.weights);
    EXPECT_NEAR(posteriors.log_likelihood(), std::log(expected.likelihood), 1e-4);
    JumpCounts jumps;
    posteriors.add_jumps(jumps);
    for (std::size_t i = 0; i < expected.links.size(); ++i)
      EXPECT_NEAR(posteriors.links()[i], expected.links[i] / expected.likelihood, 1e-5)
          << states << " states, " << observed << " words, " << i;
    for (std::size_t i = 0; i < jumps.made.size(); ++i)
      EXPECT_NEAR(jumps.made[i], expected.jumps.made[i] / expected.likelihood, 1e-5) << i;
    for (std::size_t i = 0; i < jumps.first_made.size(); ++i)
      EXPECT_NEAR(jumps.first_made[i], expected.jumps.first_made[i] / expected.likelihood, 1e-5)
          << i;
  }
}

TEST(HiddenMarkov, AWordIsInOneStateOrInNone) {
  HmmPosteriors posteriors;
  const Example example = random_example(40, 300, 1);
  posteriors.run(example.input(), example.weights);
  for (std::size_t j = 0; j < 300; ++j) {
    const auto row = posteriors.links().subspan(j * 40, 40);
    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), posteriors.nulls()[j]), 1, 1e-4);
  }
  EXPECT_TRUE(std::isfinite(posteriors.log_likelihood()));
}

/// P(state i | word j) of IBM model 1 depends on the word alone.
TEST(HiddenMarkov, WithEqualWeightsTheModelIsIbmModel1) {
  Example example = random_example(9, 4, 3);
  example.weights = JumpWeights::uniform();
  HmmPosteriors posteriors;
  posteriors.run(example.input(), example.weights);
  for (std::size_t j = 0; j < 4; ++j) {
    double all = kNullProbability * example.from_null[j];
    const auto part = [&](std::size_t i) {
      return (1 - kNullProbability) / 9 * example.emission[j * 9 + i];
    };
    for (std::size_t i = 0; i < 9; ++i) all += part(i);
    for (std::size_t i = 0; i < 9; ++i)
      EXPECT_NEAR(posteriors.links()[j * 9 + i], part(i) / all, 1e-5);
  }
}

TEST(HiddenMarkov, WeightsAreHowOftenPossibleJumpsWereMade) {
  JumpCounts counts;
  counts.made[kNearJump + 2] = 800;  // to the next state
  counts.possible[kNearJump + 2] = 999;
  const JumpWeights weights = JumpWeights::of(counts);
  EXPECT_NEAR(weights.jumps[kNearJump + 2], 0.8, 1e-4);
  EXPECT_GT(weights.jumps[0], 0);  // never seen, but possible
}

}  // namespace

}  // namespace dragoman
