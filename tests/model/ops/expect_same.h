// Numbers that are the same on every machine, on the tests' device, and their comparison; and an op
// beside its reference: the same values and gradients.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/test_device.h"

namespace dragoman {

/// cos(0.6180 * (i + shift)^2), spread evenly and without structure, in fp32 on the test's device.
inline torch::Tensor closed_form(at::IntArrayRef shape, double shift = 0) {
  const std::int64_t count = c10::multiply_integers(shape);
  const auto place = torch::arange(count, torch::kFloat64) + shift;
  return (place * place * 0.6180).cos().view(shape).to(test_device(), torch::kFloat32);
}

/// Expects |actual - expected| <= tolerance * max(1, |expected|) everywhere.
inline void expect_close(const torch::Tensor& actual, const torch::Tensor& expected,
                         double tolerance, const std::string& what = "") {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const auto a = actual.detach().to(torch::kCPU, torch::kFloat64);
  const auto e = expected.detach().to(torch::kCPU, torch::kFloat64);
  ASSERT_TRUE(a.isfinite().all().item<bool>()) << what;
  EXPECT_LE(((a - e).abs() / e.abs().clamp_min(1)).max().item<double>(), tolerance) << what;
}

using Function = std::function<torch::Tensor(const torch::Tensor&)>;

struct ValueAndGradient {
  torch::Tensor value, gradient;
};

/// f(x) and the gradient of sum(direction * f(x)).
inline ValueAndGradient differentiate(const Function& f, const torch::Tensor& x,
                                      const torch::Tensor& direction) {
  const auto leaf = x.detach().clone().requires_grad_();
  const auto value = f(leaf);
  value.backward(direction.to(value.scalar_type()).view_as(value));
  return {value.detach(), leaf.grad()};
}

/// Expects `f` to be `reference` in value and gradient, in fp32 and, less exactly, in bf16; and
/// f's fp32 gradient to be its own slope at a few places.
inline void expect_same(const Function& f, const Function& reference, const torch::Tensor& x) {
  const auto direction = closed_form({reference(x).numel()}, 0.3);
  const auto ours = differentiate(f, x, direction), theirs = differentiate(reference, x, direction);
  expect_close(ours.value, theirs.value, 1e-5, "value");
  expect_close(ours.gradient, theirs.gradient, 1e-5, "gradient");

  const auto half = x.to(torch::kBFloat16), half_direction = direction.to(torch::kBFloat16);
  const auto rounded = differentiate(f, half, half_direction);
  EXPECT_EQ(rounded.value.scalar_type(), torch::kBFloat16);
  const auto exact =
      differentiate(reference, half.to(torch::kFloat32), half_direction.to(torch::kFloat32));
  expect_close(rounded.value, exact.value, 2e-2, "bf16 value");
  expect_close(rounded.gradient, exact.gradient, 3e-2, "bf16 gradient");

  const torch::NoGradGuard no_grad;
  constexpr double step = 1.0 / 64;
  const auto total = [&](std::int64_t place, double change) {
    auto moved = x.clone();
    moved.view(-1)[place] += change;
    return f(moved).view(-1).to(torch::kFloat64).dot(direction.to(torch::kFloat64)).item<double>();
  };
  for (std::int64_t place = 1; place < x.numel(); place += 1 + x.numel() / 12) {
    const double slope = (total(place, step) - total(place, -step)) / (2 * step);
    EXPECT_NEAR(ours.gradient.view(-1)[place].item<double>(), slope, 1e-3) << place;
  }
}

/// Random keys [count] of a dropout.
inline torch::Tensor row_keys(std::int64_t count) {
  std::vector<std::int32_t> keys(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = static_cast<std::int32_t>(random_bits(17, i));
  return torch::tensor(keys, torch::kInt32).to(test_device());
}

}  // namespace dragoman
