#include "training/loss/r_drop.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace dragoman {
namespace {

TEST(RDrop, TheKernelAgreesWithTheReference) {
  torch::manual_seed(5);
  const LossConfig config{.label_smoothing = 0.1, .r_drop = 2};
  auto first = torch::randn({9, 70}) * 5, second = torch::randn({9, 70}) * 5;
  auto first_copy = first.clone(), second_copy = second.clone();
  auto targets = torch::randint(70, {9}, torch::kInt64);
  targets[4] = -1;
  const auto kernel = r_drop_in_place(first, second, targets, config);
  const auto plain = r_drop_reference(first_copy, second_copy, targets, config);
  EXPECT_TRUE(torch::allclose(kernel.objective, plain.objective, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(kernel.smoothed, plain.smoothed, 1e-5, 1e-5));
  EXPECT_TRUE(
      torch::allclose(kernel.negative_log_likelihood, plain.negative_log_likelihood, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(first, first_copy, 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(second, second_copy, 1e-4, 1e-5));
}

}  // namespace
}  // namespace dragoman
