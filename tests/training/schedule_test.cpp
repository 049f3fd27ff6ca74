#include "training/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dragoman {
namespace {

TEST(Schedule, TheRateOfInverseSqrtRisesToThePeakAndFallsWithTheRoot) {
  const Schedule s{.scheduler = LrScheduler::InverseSqrt, .peak = 0.004, .warmup = 100};
  EXPECT_DOUBLE_EQ(learning_rate(s, 50), 0.002);
  EXPECT_DOUBLE_EQ(learning_rate(s, 100), 0.004);
  EXPECT_DOUBLE_EQ(learning_rate(s, 400), 0.002);
}

TEST(Schedule, NoamIsEquationThreeOfThePaper) {
  const Schedule s{.scheduler = LrScheduler::Noam, .peak = 1, .warmup = 4000, .d_model = 512};
  for (const double u : {1.0, 100.0, 4000.0, 100000.0})
    EXPECT_NEAR(learning_rate(s, static_cast<std::int64_t>(u)),
                std::pow(512, -0.5) * std::min(std::pow(u, -0.5), u * std::pow(4000, -1.5)), 1e-15);
}

TEST(Schedule, CosineAndLinearEndAtTheFloor) {
  for (const LrScheduler scheduler : {LrScheduler::Cosine, LrScheduler::Linear}) {
    const Schedule s{.scheduler = scheduler, .peak = 1, .warmup = 10, .end = 110, .floor = 0.1};
    EXPECT_DOUBLE_EQ(learning_rate(s, 5), 0.5);
    EXPECT_DOUBLE_EQ(learning_rate(s, 10), 1);
    EXPECT_NEAR(learning_rate(s, 60), 0.55, 1e-12);
    EXPECT_NEAR(learning_rate(s, 110), 0.1, 1e-12);
    EXPECT_NEAR(learning_rate(s, 500), 0.1, 1e-12);
  }
}

TEST(Schedule, WsdKeepsThePeakUntilTheCooldownThenFallsByOneMinusTheRoot) {
  Schedule s{.scheduler = LrScheduler::Wsd, .peak = 1, .warmup = 10, .floor = 0.1};
  EXPECT_DOUBLE_EQ(learning_rate(s, 5), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(s, 10), 1);
  EXPECT_DOUBLE_EQ(learning_rate(s, 1'000'000), 1);
  s.cooldown = 100;
  s.end = 200;
  EXPECT_DOUBLE_EQ(learning_rate(s, 100), 1);
  EXPECT_NEAR(learning_rate(s, 125), 0.1 + 0.9 * 0.5, 1e-12);
  EXPECT_NEAR(learning_rate(s, 200), 0.1, 1e-12);
  EXPECT_NEAR(learning_rate(s, 500), 0.1, 1e-12);
}

TEST(Schedule, WithoutWarmUpTheFirstUpdateHasThePeak) {
  for (const LrScheduler scheduler :
       {LrScheduler::InverseSqrt, LrScheduler::Cosine, LrScheduler::Linear, LrScheduler::Wsd})
    EXPECT_DOUBLE_EQ(learning_rate({.scheduler = scheduler, .peak = 3, .warmup = 0, .end = 100}, 1),
                     3);
}

}  // namespace
}  // namespace dragoman
