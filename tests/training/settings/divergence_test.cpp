#include "training/settings/divergence.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/training/settings/spike_reference.h"

namespace dragoman {
namespace {

constexpr double kFactor = 10, kNotANumber = std::numeric_limits<double>::quiet_NaN();

LossHistory after(int updates, double loss, double norm) {
  LossHistory history;
  for (int i = 0; i < updates; ++i) note_made(history, loss, norm);
  return history;
}

TEST(Divergence, TheFirstUpdatesHaveNothingToBeComparedWith) {
  EXPECT_FALSE(is_spike(after(49, 5, 1), 500, kFactor));
  EXPECT_GT(max_gradient_norm(after(49, 5, 1), kFactor), 1e300);
  EXPECT_TRUE(is_spike({}, kNotANumber, kFactor));
}

TEST(Divergence, AnUpdateFarAboveTheMeanIsLeftOut) {
  const LossHistory history = after(60, 5, 2);
  EXPECT_DOUBLE_EQ(max_gradient_norm(history, kFactor), 20);
  EXPECT_FALSE(is_spike(history, 49, kFactor));
  EXPECT_TRUE(is_spike(history, 51, kFactor));
}

TEST(Divergence, WithoutAFactorOnlyALossThatIsNotFiniteIsLeftOut) {
  const LossHistory history = after(60, 5, 2);
  EXPECT_FALSE(is_spike(history, 51, 0));
  EXPECT_GT(max_gradient_norm(history, 0), 1e300);
  EXPECT_TRUE(is_spike(history, kNotANumber, 0));
}

TEST(Divergence, TheMeanFollowsTheLossAndForgets) {
  LossHistory history = after(50, 8, 4);
  EXPECT_DOUBLE_EQ(history.loss, 8);
  for (int i = 0; i < 500; ++i) note_made(history, 3, 1);
  EXPECT_NEAR(history.loss, 3, 0.001);
  EXPECT_NEAR(history.gradient_norm, 1, 0.001);
  EXPECT_DOUBLE_EQ(history.lowest_loss, history.loss);
}

TEST(Divergence, TenUpdatesLeftOutInARowAreADivergenceAndOneIsNot) {
  LossHistory history = after(60, 5, 2);
  for (int i = 0; i < kMostLeftOutInARow; ++i) {
    EXPECT_FALSE(has_diverged(history));
    note_left_out(history);
  }
  EXPECT_TRUE(has_diverged(history));
  note_made(history, 5, 2);
  EXPECT_FALSE(has_diverged(history));
}

TEST(Divergence, ALossThatRisesAndStaysIsADivergence) {
  LossHistory history = after(1000, 2, 1);
  int updates = 0;
  for (; !has_diverged(history) && updates < 200; ++updates) note_made(history, 7, 0.1);
  EXPECT_GT(updates, 5);  // a few hard batches are not one
  EXPECT_LT(updates, 50);
}

TEST(Divergence, ALossThatBeginsAboveGuessingAndStaysThereIsADivergence) {
  LossHistory history{.lowest_loss = 9};
  for (int i = 0; i < 60; ++i) note_made(history, 20, 1);
  EXPECT_TRUE(has_diverged(history));
}

TEST(Divergence, TheNewestStateThatIsFarEnoughBackIsKeptWithAllLaterOnes) {
  using Updates = std::vector<std::int64_t>;
  EXPECT_EQ(still_needed({}, 60), Updates{});
  EXPECT_EQ(still_needed({0, 10, 20}, 59), (Updates{0, 10, 20}));
  EXPECT_EQ(still_needed({0, 10, 20}, 60), (Updates{10, 20}));
  EXPECT_EQ(still_needed({0, 10, 20}, 70), Updates{20});
  EXPECT_EQ(still_needed({0, 10, 20}, 1000), Updates{20});
}

TEST(Divergence, ARollbackGoesToAStateFromBeforeTheTrouble) {
  EXPECT_TRUE(is_sound({}, 10));
  LossHistory history = after(1000, 2, 1);
  EXPECT_TRUE(is_sound(history, 50));
  EXPECT_FALSE(is_sound(history, 49));
  note_left_out(history);
  EXPECT_FALSE(is_sound(history, 50));
  history = after(1000, 2, 1);
  for (int i = 0; i < 10; ++i) note_made(history, 7, 1);
  EXPECT_FALSE(is_sound(history, 50));
}

}  // namespace
}  // namespace dragoman
