#include "training/moving_average.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace dragoman {
namespace {

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
    average.add(0, seen.back(), torch::full({}, u, torch::kFloat32), kMade);
    average.add(0, torch::ones({1000}), torch::full({}, u, torch::kFloat32), kMade.logical_not());
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

}  // namespace
}  // namespace dragoman
