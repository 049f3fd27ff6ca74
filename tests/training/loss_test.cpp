#include "training/loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace dragoman {
namespace {

struct Example {
  torch::Tensor hidden, weight, bias, targets;
};

Example example(torch::ScalarType type, std::int64_t tokens = 37, std::int64_t vocabulary = 101) {
  torch::manual_seed(3);
  const auto parameter = [&](at::IntArrayRef shape) {
    return torch::randn(shape).to(type).requires_grad_();
  };
  return {parameter({tokens, 16}), parameter({vocabulary, 16}), parameter({vocabulary}),
          torch::randint(vocabulary, {tokens}, torch::kInt64)};
}

torch::Tensor relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).norm() / b.to(torch::kFloat64).norm();
}

class LossInChunks : public testing::TestWithParam<std::int64_t> {};

TEST_P(LossInChunks, EqualsCrossEntropyOfAllLogitsInValueAndGradients) {
  for (const double smoothing : {0.0, 0.1, 0.7}) {
    Example ours = example(torch::kFloat32), theirs = example(torch::kFloat32);
    const auto sums = projected_cross_entropy(ours.hidden, ours.weight, ours.bias, ours.targets,
                                              smoothing, GetParam());
    sums.loss.backward();
    const auto logits = torch::nn::functional::linear(theirs.hidden, theirs.weight, theirs.bias);
    const auto loss =
        at::cross_entropy_loss(logits, theirs.targets, {}, at::Reduction::Sum, -100, smoothing);
    loss.backward();
    EXPECT_NEAR(sums.loss.item<double>(), loss.item<double>(), 1e-3);
    EXPECT_NEAR(
        sums.negative_log_likelihood,
        at::cross_entropy_loss(logits, theirs.targets, {}, at::Reduction::Sum).item<double>(),
        1e-3);
    EXPECT_LT(relative_difference(ours.hidden.grad(), theirs.hidden.grad()).item<double>(), 1e-5);
    EXPECT_LT(relative_difference(ours.weight.grad(), theirs.weight.grad()).item<double>(), 1e-5);
    EXPECT_LT(relative_difference(ours.bias.grad(), theirs.bias.grad()).item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Chunks, LossInChunks, testing::Values(1, 5, 36, 37, 512));

TEST(Loss, InBf16StaysNearTheFp32Gradient) {
  Example half = example(torch::kBFloat16), full = example(torch::kBFloat16);
  const auto sums =
      projected_cross_entropy(half.hidden, half.weight, half.bias, half.targets, 0.1, 8);
  sums.loss.backward();
  const auto hidden = full.hidden.detach().to(torch::kFloat32).requires_grad_();
  const auto exact =
      projected_cross_entropy(hidden, full.weight.detach().to(torch::kFloat32),
                              full.bias.detach().to(torch::kFloat32), full.targets, 0.1, 8);
  exact.loss.backward();
  EXPECT_NEAR(sums.loss.item<double>() / exact.loss.item<double>(), 1, 0.01);
  EXPECT_LT(relative_difference(half.hidden.grad(), hidden.grad()).item<double>(), 0.02);
}

TEST(Loss, KernelAndPlainOperationsAgree) {
  torch::manual_seed(5);
  auto logits = torch::randn({9, 70}) * 10, copy = logits.clone();
  const auto targets = torch::randint(70, {9}, torch::kInt64);
  const auto kernel = cross_entropy_in_place(logits, targets, 0.1);
  const auto plain = cross_entropy_reference(copy, targets, 0.1);
  EXPECT_TRUE(torch::allclose(kernel.smoothed, plain.smoothed, 1e-5, 1e-5));
  EXPECT_TRUE(
      torch::allclose(kernel.negative_log_likelihood, plain.negative_log_likelihood, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(logits, copy, 1e-4, 1e-6));
}

TEST(Loss, WithoutGradModeFormsNoGradients) {
  Example e = example(torch::kFloat32);
  const torch::NoGradGuard no_grad;
  const auto sums = projected_cross_entropy(e.hidden, e.weight, {}, e.targets, 0);
  EXPECT_FALSE(sums.loss.requires_grad());
  EXPECT_NEAR(sums.loss.item<double>(), sums.negative_log_likelihood, 1e-3);
}

}  // namespace
}  // namespace dragoman
