// An op beside its reference: the same values and gradients.
#pragma once

#include <functional>
#include <vector>

#include "base/random.h"
#include "tests/model/ops/closed_form.h"

namespace dragoman {

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
