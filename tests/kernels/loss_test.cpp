#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class LossKernel : public KernelTest {
 protected:
  struct Result {
    Elements gradient;
    std::vector<float> losses, negative_log_likelihoods;
  };

  Result run(const Elements& logits, const std::vector<std::int64_t>& targets, float smoothing) {
    const std::size_t rows = targets.size();
    Result result{logits, std::vector<float>(rows, -1), std::vector<float>(rows, -1)};
    const std::int64_t columns = logits.size() / static_cast<std::int64_t>(rows);
    table().loss[index()]({result.gradient.data(), targets.data(), result.losses.data(),
                           result.negative_log_likelihoods.data(), columns, smoothing},
                          0, static_cast<std::int64_t>(rows));
    return result;
  }

  /// Losses are fp32 whatever the logits are; gradients are rounded to the element type.
  void expect_formula(const Elements& logits, const std::vector<std::int64_t>& targets,
                      float smoothing, double largest) {
    const Result result = run(logits, targets, smoothing);
    EXPECT_TRUE(result.gradient.guards_stand());
    const std::int64_t columns = logits.size() / static_cast<std::int64_t>(targets.size());
    const reference::Numbers all = logits.values();
    for (std::size_t row = 0; row < targets.size(); ++row) {
      const auto at = static_cast<std::int64_t>(row) * columns;
      const auto x = reference::row_of(all, static_cast<std::int64_t>(row), columns);
      const double tolerance = 2e-6 * std::max(largest, 1.0);
      ASSERT_NEAR(result.losses[row], reference::cross_entropy(x, targets[row], smoothing),
                  tolerance)
          << "columns " << columns;
      ASSERT_NEAR(result.negative_log_likelihoods[row],
                  reference::cross_entropy(x, targets[row], 0), tolerance);
      const auto expected = reference::cross_entropy_gradient(x, targets[row], smoothing);
      double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        ASSERT_NEAR(result.gradient[at + c], expected[c],
                    is_float() ? 2e-6 : std::abs(expected[c]) / 256 + 2e-6)
            << "columns " << columns << ", target " << targets[row] << ", column " << c;
        sum += result.gradient[at + c];
      }
      ASSERT_NEAR(sum, 0, is_float() ? 1e-5 : 1.0 / 128);
    }
  }
};

TEST_P(LossKernel, TheLossIsTheSmoothedCrossEntropyForATargetAtEveryPlace) {
  for (const float smoothing : {0.0F, 0.1F})
    for (const std::int64_t columns : {1, 3, 15, 16, 17, 33}) {
      std::vector<std::int64_t> targets;
      for (std::int64_t target = 0; target < columns; ++target) targets.push_back(target);
      expect_formula(random_elements(columns * columns, 5), targets, smoothing, 5);
    }
}

TEST_P(LossKernel, TheLossIsTheSmoothedCrossEntropyOverManyColumns) {
  for (const std::int64_t columns : {63, 64, 65, 130, 1001})
    expect_formula(random_elements(3 * columns, 5), {0, columns / 2, columns - 1}, 0.1F, 5);
}

TEST_P(LossKernel, TheLossStaysFiniteForLargeLogits) {
  for (const std::int64_t columns : {17, 64}) {
    expect_formula(random_elements(3 * columns, 80), {0, columns / 2, columns - 1}, 0.1F, 80);
    // The target is all but certain, or all but impossible, and all logits are alike.
    std::vector<double> values(static_cast<std::size_t>(3 * columns), -80);
    values[columns - 1] = values[columns] = 80;
    expect_formula({type(), values}, {columns - 1, columns - 1, 5}, 0.1F, 160);
    expect_formula({type(), values}, {columns - 1, columns - 1, 5}, 0, 160);
  }
}

TEST_P(LossKernel, RowsWithoutATargetHaveNoLoss) {
  const Result result = run(random_elements(2 * 19), {-1, 3}, 0.1F);
  EXPECT_EQ(result.losses[0], 0);
  EXPECT_EQ(result.negative_log_likelihoods[0], 0);
  for (std::int64_t c = 0; c < 19; ++c) EXPECT_EQ(result.gradient[c], 0);
  EXPECT_GT(result.losses[1], 0);
}

TEST_P(LossKernel, NotANumberIsShown) {
  for (const std::int64_t index : {0, 16, 18}) {
    std::vector<double> values(19, 1);
    values[index] = std::numeric_limits<double>::quiet_NaN();
    const Result result = run({type(), values}, {3}, 0.1F);
    EXPECT_TRUE(std::isnan(result.losses[0]));
    for (std::int64_t c = 0; c < 19; ++c) EXPECT_TRUE(std::isnan(result.gradient[c])) << c;
  }
}

// Logits are zero but for the target's.
TEST_P(LossKernel, AVocabularyMayBeLargerThanTheStack) {
  constexpr std::int64_t columns = 3'000'001;
  std::vector<double> values(columns, 0);
  values[7] = 8;
  const Result result = run({type(), values}, {7}, 0);
  const double others = columns - 1, log_total = std::log(others + std::exp(8.0));
  EXPECT_NEAR(result.losses[0], log_total - 8, 1e-3);      // a sum of millions in fp32
  const double tolerance = is_float() ? 1e-3 : 1.0 / 128;  // relative
  for (const std::int64_t c : {std::int64_t{0}, columns / 2, columns - 1})
    EXPECT_NEAR(result.gradient[c], std::exp(-log_total), tolerance * std::exp(-log_total));
  EXPECT_NEAR(result.gradient[7], std::exp(8 - log_total) - 1, 0.01);
}

TEST_P(LossKernel, RowsDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t rows = 11, columns = 67;
  std::vector<std::int64_t> targets;
  for (std::int64_t row = 0; row < rows; ++row)
    targets.push_back(static_cast<std::int64_t>(random_.below(columns)));
  const Elements logits = random_elements(rows * columns);
  std::vector<float> losses(rows), likelihoods(rows);
  expect_same_when_split<LossArguments>(
      table().loss,
      [&](Elements& gradient) {
        return LossArguments{gradient.data(),    targets.data(), losses.data(),
                             likelihoods.data(), columns,        0.1F};
      },
      logits, rows);
  const Result whole = run(logits, targets, 0.1F);
  EXPECT_EQ(whole.losses, losses);
  EXPECT_EQ(whole.negative_log_likelihoods, likelihoods);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(LossKernel);

}  // namespace
}  // namespace dragoman
