#include "training/optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace dragoman {

namespace {

// ---- the moving average -------------------------------------------------------------------------

const torch::Tensor kMade = torch::ones({}, torch::kBool);

double decay_at(double decay, std::int64_t update) {
  return average_decay(decay, torch::full({}, update, torch::kFloat32)).item<double>();
}

TEST(MovingAverage, TheDecayGrowsToTheOneThatIsAskedFor) {
  EXPECT_DOUBLE_EQ(decay_at(0.999, 1), 2.0 / 11);
  EXPECT_DOUBLE_EQ(decay_at(0.999, 90), 0.91);
  EXPECT_DOUBLE_EQ(decay_at(0.999, 100'000), 0.999);
  EXPECT_DOUBLE_EQ(decay_at(0.5, 8), 0.5);
}

TEST(MovingAverage, TheAverageIsTheWeightedSumOfAllUpdatesThatWereMade) {
  torch::manual_seed(2);
  constexpr int kUpdates = 30;
  const double decay = 0.9;
  std::vector<torch::Tensor> seen = {torch::randn({1000})};
  MovingAverage average{decay, seen[0].clone()};
  for (int u = 1; u <= kUpdates; ++u) {
    seen.push_back(torch::randn({1000}));
    const auto update = torch::full({}, u, torch::kFloat32);
    average.add(0, seen.back(), average_fraction(decay, update, kMade));
    average.add(0, torch::ones({1000}), average_fraction(decay, update, kMade.logical_not()));
  }
  // The share of update k is (1 - d_k) d_{k+1} ... d_n; that of the start is d_1 ... d_n.
  auto expected = torch::zeros({1000}, torch::kFloat64);
  double shares = 0;
  for (int k = 0; k <= kUpdates; ++k) {
    double share = k == 0 ? 1 : 1 - decay_at(decay, k);
    for (int later = k + 1; later <= kUpdates; ++later) share *= decay_at(decay, later);
    expected += share * seen[static_cast<std::size_t>(k)];
    shares += share;
  }
  EXPECT_NEAR(shares, 1, 1e-12);
  EXPECT_TRUE(torch::allclose(average.values.to(torch::kFloat64), expected, 1e-5, 1e-6));
}

// ---- the learning rate --------------------------------------------------------------------------

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
