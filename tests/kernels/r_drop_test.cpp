#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

using Row = std::vector<double>;

/// Logarithms of the softmax.
Row log_softmax(const Row& logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double total = 0;
  for (const double x : logits) total += std::exp(x - top);
  Row result;
  for (const double x : logits) result.push_back(x - top - std::log(total));
  return result;
}

double cross_entropy(const Row& logits, std::int64_t target, double smoothing) {
  const Row l = log_softmax(logits);
  double sum = -(1 - smoothing) * l[target];
  for (const double x : l) sum -= smoothing / static_cast<double>(l.size()) * x;
  return sum;
}

/// KL(softmax(p) || softmax(q)).
double divergence(const Row& p, const Row& q) {
  const Row l = log_softmax(p), m = log_softmax(q);
  double sum = 0;
  for (std::size_t c = 0; c < l.size(); ++c) sum += std::exp(l[c]) * (l[c] - m[c]);
  return sum;
}

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

  static double objective(const Row& x, const Row& y, std::int64_t target) {
    return (cross_entropy(x, target, kSmoothing) + cross_entropy(y, target, kSmoothing) +
            kWeight * (divergence(x, y) + divergence(y, x)) / 2) /
           2;
  }

  static Row row_of(const Elements& all, std::size_t row, std::int64_t columns) {
    Row values;
    for (std::int64_t c = 0; c < columns; ++c)
      values.push_back(all[static_cast<std::int64_t>(row) * columns + c]);
    return values;
  }

  void expect_formula(const Elements& first, const Elements& second,
                      const std::vector<std::int64_t>& targets, double tolerance) {
    const Result result = run(first, second, targets);
    EXPECT_TRUE(result.first.guards_stand() && result.second.guards_stand());
    const std::int64_t columns = first.size() / static_cast<std::int64_t>(targets.size());
    for (std::size_t row = 0; row < targets.size(); ++row) {
      Row x = row_of(first, row, columns), y = row_of(second, row, columns);
      const std::int64_t target = targets[row];
      const auto mean = [&](double smoothing) {
        return (cross_entropy(x, target, smoothing) + cross_entropy(y, target, smoothing)) / 2;
      };
      ASSERT_NEAR(result.losses[row], mean(kSmoothing), tolerance);
      ASSERT_NEAR(result.negative_log_likelihoods[row], mean(0), tolerance);
      ASSERT_NEAR(result.divergences[row], (divergence(x, y) + divergence(y, x)) / 2, tolerance);
      for (Row* moved : {&x, &y}) {
        const Row gradient = row_of(moved == &x ? result.first : result.second, row, columns);
        for (std::int64_t c = 0; c < columns; ++c) {
          constexpr double step = 1e-5;
          const double before = (*moved)[c];
          (*moved)[c] = before + step;
          const double above = objective(x, y, target);
          (*moved)[c] = before - step;
          const double slope = (above - objective(x, y, target)) / (2 * step);
          (*moved)[c] = before;
          ASSERT_NEAR(gradient[c], slope,
                      is_float() ? tolerance : std::abs(slope) / 256 + tolerance)
              << "columns " << columns << ", target " << target << ", column " << c;
        }
      }
    }
  }
};

TEST_P(RDropKernel, IsTheObjectiveForATargetAtEveryPlace) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 33}) {
    std::vector<std::int64_t> targets;
    for (std::int64_t target = 0; target < columns; ++target) targets.push_back(target);
    expect_formula(random_elements(columns * columns), random_elements(columns * columns), targets,
                   2e-5);
  }
}

TEST_P(RDropKernel, IsTheObjectiveOverManyColumnsAndForLargeLogits) {
  for (const std::int64_t columns : {63, 64, 65, 130, 257})
    expect_formula(random_elements(3 * columns), random_elements(3 * columns),
                   {0, columns / 2, columns - 1}, 2e-5);
  expect_formula(random_elements(3 * 65, 40), random_elements(3 * 65, 40), {0, 30, 64}, 5e-4);
}

TEST_P(RDropKernel, OfTwoLikePassesIsThePlainLoss) {
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

TEST_P(RDropKernel, RowsWithoutATargetHaveNone) {
  const Result result = run(random_elements(2 * 19), random_elements(2 * 19), {-1, 3});
  EXPECT_EQ(result.losses[0], 0);
  EXPECT_EQ(result.divergences[0], 0);
  for (std::int64_t c = 0; c < 19; ++c) EXPECT_EQ(result.first[c], 0);
  for (std::int64_t c = 0; c < 19; ++c) EXPECT_EQ(result.second[c], 0);
  EXPECT_GT(result.divergences[1], 0);
}

TEST_P(RDropKernel, ShowsNotANumber) {
  for (const std::int64_t place : {0, 16, 18}) {
    Row values(19, 1);
    values[place] = std::numeric_limits<double>::quiet_NaN();
    const Result result = run({type(), values}, {type(), Row(19, 1)}, {3});
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
  expect_same_in_pieces<RDropArguments>(
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
