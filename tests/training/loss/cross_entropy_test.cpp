#include "training/loss/cross_entropy.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace dragoman {
namespace {

TEST(CrossEntropy, TheKernelAgreesWithTheReference) {
  torch::manual_seed(5);
  const LossConfig config{.label_smoothing = 0.1};
  auto logits = torch::randn({9, 70}) * 10, copy = logits.clone();
  const auto targets = torch::randint(70, {9}, torch::kInt64);
  const auto kernel = cross_entropy_in_place(logits, targets, config);
  const auto plain = cross_entropy_reference(copy, targets, config);
  EXPECT_TRUE(torch::allclose(kernel.smoothed, plain.smoothed, 1e-5, 1e-5));
  EXPECT_TRUE(
      torch::allclose(kernel.negative_log_likelihood, plain.negative_log_likelihood, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(logits, copy, 1e-4, 1e-6));
}

}  // namespace
}  // namespace dragoman
