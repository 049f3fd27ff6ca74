// Numbers that are the same on every machine, on the tests' device, and their comparison.
#pragma once

#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdint>
#include <string>

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

}  // namespace dragoman
