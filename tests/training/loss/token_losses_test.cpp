#include "training/loss/token_losses.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace dragoman {

namespace {

// ---- cross-entropy ------------------------------------------------------------------------------

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

// ---- R-Drop -------------------------------------------------------------------------------------

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
