#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/inference_kernels.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class ActivationKernel : public InferenceKernelsTest {
 protected:
  typedef void (*Kernel)(const ActivationArguments&);
  typedef double (*Formula)(double);

  /// The largest error relative to the formula, where that is a number that fp32 has well.
  static double worst_error(Kernel kernel, Formula formula, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const auto columns = static_cast<std::int64_t>(x.size());
    kernel({.x = x.data(),
            .gate = nullptr,
            .y = y.data(),
            .rows = 1,
            .columns = columns,
            .x_stride = columns});
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = formula(x[i]);
      EXPECT_NEAR(y[i], expected, 1e-30 + 1e-4 * std::abs(expected)) << x[i];
      if (std::abs(expected) > 1e-30)
        worst =
            std::max(worst, std::abs(static_cast<double>(y[i]) - expected) / std::abs(expected));
    }
    return worst;
  }

  /// [rows, 2 * columns] with the gate behind x, to y between guards.
  static void expect_rows(Kernel kernel, Formula formula, std::int64_t columns,
                          const std::vector<float>& x) {
    const auto rows = static_cast<std::int64_t>(x.size()) / (2 * columns);
    for (const bool gated : {false, true}) {
      std::vector<float> y(static_cast<std::size_t>(rows * columns) + 1, 99);
      kernel({.x = x.data(),
              .gate = gated ? x.data() + columns : nullptr,
              .y = y.data(),
              .rows = rows,
              .columns = columns,
              .x_stride = 2 * columns});
      EXPECT_EQ(y.back(), 99);
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const float* at = x.data() + i / columns * 2 * columns + i % columns;
        const double expected = gated ? formula(at[columns]) * at[0] : formula(at[0]);
        EXPECT_NEAR(y[i], expected, 2e-6 * std::abs(expected) + 1e-12) << i;
      }
    }
  }
};

TEST_P(ActivationKernel, TheKernelIsTheFormula) {
  std::vector<float> x = {0};
  for (float size = 1e-6F; size < 40; size *= 1.001F) x.insert(x.end(), {size, -size});
  // Half a unit of x^2 / 2 in the exponent is what gelu loses.
  const auto near = [](float value) { return std::abs(value) > 4; };
  EXPECT_LT(worst_error(table().swish, reference::swish, x), 5e-7);
  EXPECT_LT(worst_error(table().gelu, reference::gelu, x), 1e-5);
  std::erase_if(x, near);
  EXPECT_LT(worst_error(table().gelu, reference::gelu, x), 2e-6);
}

TEST_P(ActivationKernel, AnActivationMayBeGatedAndOfAnyWidth) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 65}) {
    const std::vector<float> x = values(3 * 2 * columns, 4);
    expect_rows(table().gelu, reference::gelu, columns, x);
    expect_rows(table().swish, reference::swish, columns, x);
  }
}

TEST_P(ActivationKernel, NanGivesNan) {
  const std::vector<float> x(17, NAN);
  std::vector<float> y(17);
  for (const Kernel kernel : {table().gelu, table().swish}) {
    kernel(
        {.x = x.data(), .gate = nullptr, .y = y.data(), .rows = 1, .columns = 17, .x_stride = 17});
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  }
}

DRAGOMAN_FOR_EACH_INFERENCE_TABLE(ActivationKernel);

}  // namespace
}  // namespace dragoman
