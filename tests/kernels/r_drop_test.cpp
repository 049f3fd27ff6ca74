#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class RDropKernel : public KernelTest {
 protected:
  static constexpr float kSmoothing = 0.1F, kWeight = 3;

  struct Result {
    Elements first, second;
    std::vector<float> losses, negative_log_likelihoods, divergences;
  };

  Result run(const Elements& first, const Elements& second,
             const std::vector<std::int64_t>& targets) {
    const std::size_t rows = targets.size();
    Result r{first, second, std::vector<float>(rows), std::vector<float>(rows),
             std::vector<float>(rows)};
    table().r_drop[index()]({r.first.data(), r.second.data(), targets.data(), r.losses.data(),
                             r.negative_log_likelihoods.data(), r.divergences.data(),
                             first.size() / static_cast<std::int64_t>(rows), kSmoothing, kWeight},
                            0, static_cast<std::int64_t>(rows));
    return r;
  }

  void expect_formula(const Elements& first, const Elements& second,
                      const std::vector<std::int64_t>& targets, double tolerance) {
    const Result result = run(first, second, targets);
    EXPECT_TRUE(result.first.guards_stand() && result.second.guards_stand());
    const std::int64_t columns = first.size() / static_cast<std::int64_t>(targets.size());
    const reference::Numbers all = first.values(), others = second.values();
    for (std::size_t row = 0; row < targets.size(); ++row) {
      const auto number = static_cast<std::int64_t>(row);
      const auto x = reference::row_of(all, number, columns);
      const auto y = reference::row_of(others, number, columns);
      const std::int64_t target = targets[row];
      const auto mean = [&](double smoothing) {
        return (reference::cross_entropy(x, target, smoothing) +
                reference::cross_entropy(y, target, smoothing)) /
               2;
      };
      ASSERT_NEAR(result.losses[row], mean(kSmoothing), tolerance);
      ASSERT_NEAR(result.negative_log_likelihoods[row], mean(0), tolerance);
      ASSERT_NEAR(result.divergences[row],
                  (reference::divergence(x, y) + reference::divergence(y, x)) / 2, tolerance);
      const auto d_x = reference::r_drop_gradient(x, y, target, kSmoothing, kWeight);
      const auto d_y = reference::r_drop_gradient(y, x, target, kSmoothing, kWeight);
      for (std::int64_t c = 0; c < columns; ++c)
        for (const auto& [gradient, expected] :
             {std::pair(&result.first, d_x[c]), {&result.second, d_y[c]}})
          ASSERT_NEAR((*gradient)[number * columns + c], expected,
                      is_float() ? tolerance : std::abs(expected) / 256 + tolerance)
              << "columns " << columns << ", target " << target << ", column " << c;
    }
  }
};

TEST_P(RDropKernel, TheLossIsTheObjectiveForATargetAtEveryPlace) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 33}) {
    std::vector<std::int64_t> targets;
    for (std::int64_t target = 0; target < columns; ++target) targets.push_back(target);
    expect_formula(random_elements(columns * columns), random_elements(columns * columns), targets,
                   2e-5);
  }
}

TEST_P(RDropKernel, TheLossIsTheObjectiveOverManyColumnsAndForLargeLogits) {
  for (const std::int64_t columns : {63, 64, 65, 130, 257})
    expect_formula(random_elements(3 * columns), random_elements(3 * columns),
                   {0, columns / 2, columns - 1}, 2e-5);
  expect_formula(random_elements(3 * 65, 40), random_elements(3 * 65, 40), {0, 30, 64}, 5e-4);
}

TEST_P(RDropKernel, TwoLikePassesGiveThePlainLoss) {
  const std::vector<std::int64_t> targets = {2, 66, 30};
  const Elements logits = random_elements(3 * 67);
  const Result result = run(logits, logits, targets);
  Elements plain = logits;
  std::vector<float> losses(3), likelihoods(3);
  table().loss[index()](
      {plain.data(), targets.data(), losses.data(), likelihoods.data(), 67, kSmoothing}, 0, 3);
  EXPECT_EQ(result.first, result.second);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(result.losses[row], losses[row], 1e-6);
    EXPECT_NEAR(result.divergences[row], 0, 1e-6);
  }
  for (std::int64_t i = 0; i < plain.size(); ++i)  // of both passes together: half and half
    EXPECT_NEAR(result.first[i], plain[i] / 2, is_float() ? 1e-6 : 1.0 / 512);
}

TEST_P(RDropKernel, RowsWithoutATargetHaveNoLoss) {
  const Result result = run(random_elements(2 * 19), random_elements(2 * 19), {-1, 3});
  EXPECT_EQ(result.losses[0], 0);
  EXPECT_EQ(result.divergences[0], 0);
  for (std::int64_t c = 0; c < 19; ++c) EXPECT_EQ(result.first[c], 0);
  for (std::int64_t c = 0; c < 19; ++c) EXPECT_EQ(result.second[c], 0);
  EXPECT_GT(result.divergences[1], 0);
}

TEST_P(RDropKernel, NotANumberIsShown) {
  for (const std::int64_t index : {0, 16, 18}) {
    std::vector<double> values(19, 1);
    values[index] = std::numeric_limits<double>::quiet_NaN();
    const Result result = run({type(), values}, {type(), std::vector<double>(19, 1)}, {3});
    EXPECT_TRUE(std::isnan(result.losses[0]));
    for (std::int64_t c = 0; c < 19; ++c) EXPECT_TRUE(std::isnan(result.second[c])) << c;
  }
}

TEST_P(RDropKernel, RowsDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t rows = 11, columns = 67;
  const std::vector<std::int64_t> targets(rows, 7);
  Elements second = random_elements(rows * columns);
  const Elements second_before = second;
  std::vector<float> losses(rows), likelihoods(rows), divergences(rows);
  expect_same_when_split<RDropArguments>(
      table().r_drop,
      [&](Elements& first) {
        second = second_before;
        return RDropArguments{first.data(),  second.data(),      targets.data(),
                              losses.data(), likelihoods.data(), divergences.data(),
                              columns,       kSmoothing,         kWeight};
      },
      random_elements(rows * columns), rows);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(RDropKernel);

}  // namespace
}  // namespace dragoman
