#include "training/step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "kernels/cuda/adam.h"
#include "model/ops/kernel_call.h"
#include "tests/cuda_stand_in/counts.h"
#include "tests/test_device.h"
#include "tests/training/settings/spike_reference.h"

namespace dragoman {

namespace {

torch::Tensor on_device(const std::vector<double>& values, torch::ScalarType type) {
  return torch::tensor(values, torch::kFloat64).to(test_device(), type);
}

constexpr double kRate = 0.25, kWeightDecay = 0.125;

/// The parts of a step besides the model.
struct Steps {
  torch::Tensor parameters = torch::zeros({8}, torch::TensorOptions().device(test_device()));
  Adam adam = Adam({.weight_decay = kWeightDecay}, parameters);
  StepNumbers numbers = StepNumbers(test_device());

  /// Decides about an update with 4 target tokens that has this loss and gradient norm.
  Decision decide(double loss, double norm, SpikeLimits* limits, double clip_norm = 0,
                  double average_decay = 0) {
    numbers.set(4, kRate);
    return dragoman::decide({.numbers = numbers,
                             .gradient_norm = on_device({4 * norm}, torch::kFloat32)[0],
                             .losses = on_device({4 * loss, 3}, torch::kFloat64),
                             .clip_norm = clip_norm,
                             .limits = limits,
                             .average_decay = average_decay},
                            adam, parameters);
  }
};

/// Mostly near the mean, sometimes far above it, sometimes not a number.
double drawn(RandomStream& random, double mean) {
  const auto draw = random.below(40);
  if (draw == 0) return std::numeric_limits<double>::quiet_NaN();
  if (draw == 1) return std::numeric_limits<double>::infinity();
  return mean * (draw < 5 ? 4 : 1) * (0.5 + static_cast<double>(random.below(1024)) / 1024);
}

void expect_limits_of_the_history() {
  for (const double factor : {0.0, 3.0}) {
    LossHistory history = new_history(100);
    SpikeLimits limits(history, factor, test_device());
    Steps steps;
    RandomStream random(5, 1);
    int left_out = 0;
    for (int update = 0; update < 400; ++update) {
      if (update == 200) limits.continue_from(history);               // resumed
      const double loss = drawn(random, 5), norm = drawn(random, 2);  // exact in fp32
      const bool made = std::isfinite(norm) && !is_spike(history, loss, factor) &&
                        norm <= max_gradient_norm(history, factor);
      EXPECT_EQ(steps.decide(loss, norm, &limits).result.made().item<double>(), made);
      made ? note_made(history, loss, norm) : void(++left_out);
      const auto means = limits.means().cpu();
      EXPECT_EQ(means[0].item<double>(), history.updates);
      EXPECT_EQ(means[1].item<double>(), history.loss);
      EXPECT_EQ(means[2].item<double>(), history.gradient_norm);
    }
    EXPECT_EQ(steps.adam.steps.item<float>(), 400 - left_out);
    EXPECT_GT(left_out, factor == 0 ? 20 : 40);
    EXPECT_GT(history.updates, 250);
  }
}

TEST(SpikeLimits, LimitsAreThoseOfTheHistoryToTheLastBit) {
  expect_limits_of_the_history();
  const WithoutKernels plain;
  expect_limits_of_the_history();
}

TEST(Decision, TheKernelDecidesAsTheOperationsDo) {
  if (!test_device().is_cuda()) GTEST_SKIP() << "there is no kernel for the CPU";
  for (const double norm : {0.5, 7.0, std::numeric_limits<double>::infinity()})
    for (const double clip_norm : {0.0, 2.0}) {
      Steps by_kernel, by_operations;
      const Decision kernel = by_kernel.decide(1.5, norm, nullptr, clip_norm, 0.9);
      const WithoutKernels plain;
      const Decision operations = by_operations.decide(1.5, norm, nullptr, clip_norm, 0.9);
      EXPECT_TRUE(torch::equal(kernel.result.values, operations.result.values));
      EXPECT_TRUE(torch::equal(by_kernel.adam.steps, by_operations.adam.steps));
      const auto read = kernel.step_numbers.cpu();
      const auto& numbers = *static_cast<const CudaStepNumbers*>(read.const_data_ptr());
      EXPECT_EQ(numbers.made, 1 - by_operations.adam.left_out.item<float>());
      if (numbers.made == 0) continue;  // the others do not count
      EXPECT_EQ(numbers.factor, operations.factor.item<float>());
      EXPECT_EQ(numbers.average_fraction, operations.average_fraction.item<float>());
      EXPECT_FLOAT_EQ(numbers.kept, 1 - kRate * kWeightDecay);
      EXPECT_FLOAT_EQ(numbers.step_size, kRate / 0.1);  // 1 - beta1
      EXPECT_FLOAT_EQ(numbers.root_correction, std::sqrt(0.02));
    }
}

TEST(Decision, OnAGpuADecisionIsOneLaunch) {
  if (!StandInCounts::is_loaded()) GTEST_SKIP() << "only the stand-in for CUDA counts launches";
  SpikeLimits limits({}, 10, test_device());
  Steps steps;
  const auto norm = on_device({1}, torch::kFloat32)[0], losses = on_device({1, 1}, torch::kFloat64);
  const StandInCounts counts;
  decide({.numbers = steps.numbers,
          .gradient_norm = norm,
          .losses = losses,
          .clip_norm = 1,
          .limits = &limits,
          .average_decay = 0.9},
         steps.adam, steps.parameters);
  EXPECT_EQ(counts.report()["launch_count"], 1);
}

}  // namespace

}  // namespace dragoman
