#include "training/loss/loss.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/cuda_stand_in/counts.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

constexpr LossConfig kSmoothedInEights{.label_smoothing = 0.1, .chunk_tokens = 8};

struct Example {
  torch::Tensor hidden, weight, bias, targets;
};

Example example(torch::ScalarType type, std::int64_t tokens = 37, std::int64_t vocabulary = 101) {
  torch::manual_seed(3);
  const auto parameter = [&](at::IntArrayRef shape) {
    return torch::randn(shape).to(test_device(), type).requires_grad_();
  };
  return {parameter({tokens, 16}), parameter({vocabulary, 16}), parameter({vocabulary}),
          torch::randint(vocabulary, {tokens}, torch::kInt64).to(test_device())};
}

torch::Tensor relative_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).norm() / b.to(torch::kFloat64).norm();
}

TEST(CrossEntropy, TheKernelAgreesWithTheReference) {
  torch::manual_seed(5);
  const LossConfig config{.label_smoothing = 0.1};
  auto logits = (torch::randn({9, 70}) * 10).to(test_device()), copy = logits.clone();
  auto targets = torch::randint(70, {9}, torch::kInt64).to(test_device());
  targets[4] = -1;
  const auto kernel = cross_entropy_in_place(logits, targets, config);
  const auto plain = cross_entropy_reference(copy, targets, config);
  EXPECT_TRUE(torch::allclose(kernel.smoothed(), plain.smoothed(), 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(kernel.negative_log_likelihood(), plain.negative_log_likelihood(),
                              1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(logits, copy, 1e-4, 1e-6));
}

class LossInChunks : public testing::TestWithParam<std::int64_t> {};

TEST_P(LossInChunks, TheLossEqualsCrossEntropyOfAllLogitsInValueAndGradients) {
  for (const double smoothing : {0.0, 0.1, 0.7}) {
    Example ours = example(torch::kFloat32), theirs = example(torch::kFloat32);
    const auto sums =
        projected_cross_entropy(ours.hidden, ours.weight, ours.bias, ours.targets,
                                {.label_smoothing = smoothing, .chunk_tokens = GetParam()});
    sums.objective.backward();
    const auto logits = torch::nn::functional::linear(theirs.hidden, theirs.weight, theirs.bias);
    const auto loss =
        at::cross_entropy_loss(logits, theirs.targets, {}, at::Reduction::Sum, -100, smoothing);
    loss.backward();
    EXPECT_NEAR(sums.objective.item<double>(), loss.item<double>(), 1e-3);
    EXPECT_NEAR(
        sums.values[1].item<double>(),
        at::cross_entropy_loss(logits, theirs.targets, {}, at::Reduction::Sum).item<double>(),
        1e-3);
    EXPECT_LT(relative_difference(ours.hidden.grad(), theirs.hidden.grad()).item<double>(), 1e-5);
    EXPECT_LT(relative_difference(ours.weight.grad(), theirs.weight.grad()).item<double>(), 1e-5);
    EXPECT_LT(relative_difference(ours.bias.grad(), theirs.bias.grad()).item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Chunks, LossInChunks, testing::Values(0, 1, 5, 36, 37, 512));

TEST(Loss, AChunkIsLargerOnADeviceThanInTheCacheOfAProcessor) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  constexpr std::int64_t kTokens = 600, kVocabulary = 60'000;  // above 2^25 logits
  ASSERT_EQ(chunk_size({}, kTokens, kVocabulary), 300);
  const Example e = example(torch::kBFloat16, kTokens, kVocabulary);
  const torch::NoGradGuard no_grad;
  const StandInCounts counts;
  projected_cross_entropy(e.hidden, e.weight, {}, e.targets, {});
  EXPECT_EQ(counts.launches_of("loss_bfloat16"), 1);
  projected_cross_entropy(e.hidden, e.weight, {}, e.targets, {.chunk_tokens = 200});
  EXPECT_EQ(counts.launches_of("loss_bfloat16"), 1 + 3);
}

/// Hidden, weight and, if there is one, bias, as leaves in fp32.
struct Fp32Example {
  explicit Fp32Example(const Example& e)
      : hidden(e.hidden.detach().to(torch::kFloat32).requires_grad_()),
        weight(e.weight.detach().to(torch::kFloat32).requires_grad_()),
        bias(e.bias.defined() ? e.bias.detach().to(torch::kFloat32) : torch::Tensor()) {}
  torch::Tensor hidden, weight, bias;
};

/// Values and gradients of an example in bf16, beside those in fp32.
void expect_near_fp32(const Example& half, const LossConfig& config, double tolerance = 0.006) {
  const Fp32Example full(half);
  const auto sums =
      projected_cross_entropy(half.hidden, half.weight, half.bias, half.targets, config);
  const auto exact =
      projected_cross_entropy(full.hidden, full.weight, full.bias, half.targets, config);
  sums.objective.backward();
  exact.objective.backward();
  EXPECT_NEAR(sums.objective.item<double>() / exact.objective.item<double>(), 1, 0.003);
  for (const int loss : {0, 1})
    EXPECT_NEAR((sums.values[loss] / exact.values[loss]).item<double>(), 1, 0.003);
  EXPECT_LT(relative_difference(half.hidden.grad(), full.hidden.grad()).item<double>(), tolerance);
  EXPECT_LT(relative_difference(half.weight.grad(), full.weight.grad()).item<double>(), tolerance);
}

TEST(Loss, TheLossInBf16StaysNearFp32) {
  Example half = example(torch::kBFloat16);
  expect_near_fp32(half, kSmoothedInEights);
  half = example(torch::kBFloat16);
  half.bias = torch::Tensor();
  expect_near_fp32(half, kSmoothedInEights);
  half = example(torch::kBFloat16, 130, 333);
  half.bias = torch::Tensor();
  expect_near_fp32(half, {.label_smoothing = 0.1});
}

TEST(Loss, RowsWithoutATargetHaveNoLoss) {
  Example half = example(torch::kBFloat16, 70);
  half.bias = torch::Tensor();
  half.targets[3] = half.targets[69] = -1;
  expect_near_fp32(half, {.label_smoothing = 0.1});
  EXPECT_EQ(half.hidden.grad()[3].abs().max().item<double>(), 0);
  EXPECT_GT(half.hidden.grad()[2].abs().max().item<double>(), 0);
}

TEST(Loss, TheLossInBf16StaysNearFp32IfLogitsAreInTheHundreds) {
  Example half = example(torch::kBFloat16, 70);
  half.bias = torch::Tensor();
  half.hidden = (half.hidden.detach() * 64).requires_grad_();
  expect_near_fp32(half, {.label_smoothing = 0.1}, 0.1);  // which bf16 has in steps of one
}

TEST(Loss, TheLossIsNotANumberIfTheModelHasDiverged) {
  Example half = example(torch::kBFloat16, 70);
  half.hidden = half.hidden.detach();
  half.hidden[5][3] = std::nan("");
  half.hidden.requires_grad_();
  const auto sums =
      projected_cross_entropy(half.hidden, half.weight, {}, half.targets, {.label_smoothing = 0.1});
  EXPECT_TRUE(std::isnan(sums.objective.item<double>()));
  EXPECT_TRUE(std::isnan(sums.values[0].item<double>()));
}

TEST(Loss, WithoutGradModeNoGradientsAreFormed) {
  Example e = example(torch::kFloat32);
  const torch::NoGradGuard no_grad;
  const auto sums = projected_cross_entropy(e.hidden, e.weight, {}, e.targets, {});
  EXPECT_FALSE(sums.objective.requires_grad());
  EXPECT_NEAR(sums.objective.item<double>(), sums.values[1].item<double>(), 1e-3);
}

}  // namespace
}  // namespace dragoman
