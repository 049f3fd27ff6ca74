#include "inference/cpu/token_choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/inference/cpu/random_values.h"

namespace dragoman {
namespace {

constexpr std::int64_t kInputs = 8, kRows = 3,
                       kVocabulary = 20'000;  // more than are computed at once

/// The output of a decoder and a projection, whose later logits may be far above the first.
struct Example {
  std::vector<float> x = random_values(kRows * kInputs, 1);
  std::vector<float> weights = random_values(kVocabulary * kInputs, 2);
  std::vector<float> bias = std::vector<float>(kVocabulary);

  /// [kRows, kVocabulary], in plain loops.
  std::vector<double> log_probabilities() const {
    std::vector<double> result;
    for (std::int64_t r = 0; r < kRows; ++r) {
      std::vector<double> logits;
      for (std::int64_t t = 0; t < kVocabulary; ++t) {
        double logit = bias[static_cast<std::size_t>(t)];
        for (std::int64_t i = 0; i < kInputs; ++i)
          logit += static_cast<double>(x[static_cast<std::size_t>(r * kInputs + i)]) *
                   weights[static_cast<std::size_t>(t * kInputs + i)];
        logits.push_back(logit);
      }
      const double largest = *std::max_element(logits.begin(), logits.end());
      double sum = 0;
      for (const double logit : logits) sum += std::exp(logit - largest);
      for (const double logit : logits) result.push_back(logit - largest - std::log(sum));
    }
    return result;
  }
};

struct Request {
  std::vector<TokenId> never_emitted;
  std::vector<Adjustment> adjustments;
  std::vector<RowToken> reported;
};

struct Answer {
  std::vector<Candidate> candidates;
  std::vector<float> reported;
};

Answer ask(const Example& e, const Request& request, std::int64_t best) {
  const PackedLinear projection(e.weights, e.bias, kInputs, ComputeType::Float32);
  TokenChoice choice(request.never_emitted);
  LinearScratch scratch;
  Answer answer{.candidates = std::vector<Candidate>(static_cast<std::size_t>(kRows * best)),
                .reported = std::vector<float>(request.reported.size())};
  choice.run(projection, e.x.data(), kRows,
             {.rows = {},
              .previous = {},
              .adjustments = request.adjustments,
              .candidates_per_row = best,
              .candidates = answer.candidates,
              .reported = request.reported,
              .reported_log_probabilities = answer.reported},
             scratch);
  return answer;
}

/// All candidates of a row, in the order of tokens.
std::vector<Candidate> plain_candidates(const std::vector<double>& log_p, const Request& request,
                                        std::int32_t row) {
  std::vector<Candidate> all;
  for (TokenId token = 0; token < kVocabulary; ++token)
    all.push_back({token, static_cast<float>(log_p[static_cast<std::size_t>(row * kVocabulary) +
                                                   static_cast<std::size_t>(token)])});
  for (const Adjustment& adjustment : request.adjustments)
    if (adjustment.row == row) {
      float& value = all[static_cast<std::size_t>(adjustment.token)].log_probability;
      value = adjusted(value, adjustment.factor);
    }
  for (const TokenId token : request.never_emitted)
    all[static_cast<std::size_t>(token)].log_probability = -kExclude;
  return all;
}

/// Compares with plain loops, for some best tokens and for all.
void expect_plain(const Example& e, const Request& request) {
  const auto log_p = e.log_probabilities();
  for (const std::int64_t best : {std::int64_t{1}, std::int64_t{5}, kVocabulary}) {
    const Answer answer = ask(e, request, best);
    for (std::int32_t row = 0; row < kRows; ++row) {
      auto expected = plain_candidates(log_p, request, row);
      if (best < kVocabulary) std::ranges::sort(expected, ranks_before);
      for (std::int64_t i = 0; i < best; ++i) {
        const Candidate& found = answer.candidates[static_cast<std::size_t>(row * best + i)];
        const Candidate& right = expected[static_cast<std::size_t>(i)];
        ASSERT_EQ(found.token, right.token)
            << "row " << row << ", candidate " << i << " of " << best;
        if (std::isinf(right.log_probability))
          EXPECT_EQ(found.log_probability, right.log_probability);
        else
          EXPECT_NEAR(found.log_probability, right.log_probability, 1e-4);
      }
    }
    for (std::size_t i = 0; i < request.reported.size(); ++i) {
      const RowToken& reported = request.reported[i];
      EXPECT_NEAR(answer.reported[i],
                  log_p[static_cast<std::size_t>(reported.row * kVocabulary + reported.token)],
                  1e-4);
    }
  }
}

/// The most probable tokens of a row without any request.
std::vector<TokenId> best_tokens(const Example& e, std::size_t row) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < 5; ++i) tokens.push_back(ask(e, {}, 5).candidates[row * 5 + i].token);
  return tokens;
}

TEST(TokenChoice, TheMostProbableTokensAreGiven) { expect_plain({}, {}); }

TEST(TokenChoice, LogitsMayRiseFarAboveTheFirst) {
  Example e;
  e.bias[9000] = 150;
  e.bias[19'999] = 300;
  expect_plain(e, {});
}

TEST(TokenChoice, ATokenThatIsNeverEmittedIsNotGiven) {
  const Example e;
  const auto best = best_tokens(e, 1);
  expect_plain(
      e,
      {.never_emitted = {0, best[0], best[2], kVocabulary - 1}, .adjustments = {}, .reported = {}});
}

TEST(TokenChoice, TokensAreAdjustedAfterTheyAreNormalised) {
  const Example e;
  const auto best = best_tokens(e, 1);
  const Request request{.never_emitted = {best[3]},
                        .adjustments = {{1, best[0], kExclude},
                                        {1, best[1], 1.01F},
                                        {2, 7, 0.01F},
                                        {0, 12'000, 0.1F}},
                        .reported = {}};
  expect_plain(e, request);
}

TEST(TokenChoice, ReportedLogProbabilitiesAreThoseBeforeAdjustments) {
  const Example e;
  const auto best = best_tokens(e, 0);
  expect_plain(e, {.never_emitted = {5},
                   .adjustments = {{0, best[0], kExclude}, {1, 17'000, 3}},
                   .reported = {{0, best[0]}, {1, 17'000}, {2, 17'000}, {2, 0}}});
}

}  // namespace
}  // namespace dragoman
