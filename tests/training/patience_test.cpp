#include "training/patience.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

PatienceState after(const std::vector<double>& scores, double standard_error) {
  PatienceState state;
  for (const double score : scores) note_validation(state, {score, standard_error});
  return state;
}

TEST(Patience, PatienceCountsTheValidationsSinceTheSmoothedScoreLastRose) {
  EXPECT_EQ(after({10, 20, 30}, 0.7).without_gain, 0);
  EXPECT_EQ(after({30, 30, 30, 30}, 0.7).without_gain, 3);
}

TEST(Patience, ASlowRiseThatAddsUpIsAGain) {
  // 0.02 a validation; the sixth is more than 0.07 above the first.
  EXPECT_EQ(after({30, 30.02, 30.04, 30.06}, 0.7).without_gain, 3);
  EXPECT_EQ(after({30, 30.02, 30.04, 30.06, 30.08, 30.10}, 0.7).without_gain, 0);
}

TEST(Patience, OneLuckyScoreNeitherHidesARiseNorMakesOne) {
  // The best single score comes second; the mean of three still rises.
  EXPECT_EQ(after({30, 32, 30.5, 31, 31.5, 31.8}, 0.7).without_gain, 0);
  // A small lucky score among equal ones is no gain.
  EXPECT_EQ(after({30, 30, 30, 30.15, 30, 30, 30}, 0.7).without_gain, 6);
}

TEST(Patience, TheLossDecidesWhereTheScoreSaysNothing) {
  PatienceState state;
  for (int i = 0; i < 10; ++i) note_validation(state, {.loss = 7 - 0.1 * i});
  EXPECT_EQ(state.without_gain, 0);
  note_validation(state, {.loss = 6.5});
  EXPECT_EQ(state.without_gain, 1);
}

TEST(Patience, AScoreThatDoesNotCountIsNoGain) {
  PatienceState state;
  note_validation(state, {.score = 10});
  note_validation(state, {.score = 20, .counts = false});
  EXPECT_EQ(state.without_gain, 1);
  EXPECT_EQ(state.recent, std::vector<double>{10}) << "it is not in the mean either";
  note_validation(state, {.score = 11});
  EXPECT_EQ(state.without_gain, 0);
  EXPECT_EQ(state.to_beat, 10.5);
}

TEST(Patience, WithoutAKnownErrorAnyRiseIsAGain) {
  EXPECT_EQ(after({-2, -1.99, -1.98}, 0).without_gain, 0);
  EXPECT_EQ(after({-2, -2, -2}, 0).without_gain, 2);
}

}  // namespace
}  // namespace dragoman
