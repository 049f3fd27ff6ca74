#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 15, 16, 17, 63, 64, 65, 130};

class DropoutKernel : public KernelTest {
 protected:
  static constexpr std::int64_t kHeads = 3, kQueries = 5, kSentences = 2;
  static constexpr std::int64_t kRows = kHeads * kQueries * kSentences;

  DropoutRule rule(std::uint32_t threshold = 77) const {
    return {keys_.data(), 9, threshold, kHeads, kQueries};
  }
  static std::string at(std::int64_t columns, std::int64_t i) {
    return "columns " + std::to_string(columns) + ", row " + std::to_string(i / columns) +
           ", column " + std::to_string(i % columns);
  }

  std::vector<std::int32_t> keys_ = random_keys(random_, kSentences* kQueries);
};

TEST_P(DropoutKernel, ElementsAreMultipliedByTheFactorsThatTheHeaderDefines) {
  for (const std::int64_t columns : kColumns) {
    Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
    Elements dropped(type(), kRows * columns), sum(type(), kRows * columns);
    table().dropout[index()]({x.data(), nullptr, dropped.data(), columns, rule()}, 0, kRows);
    table().dropout[index()]({x.data(), residual.data(), sum.data(), columns, rule()}, 0, kRows);
    const reference::Numbers expected = reference::dropout(x.values(), columns, rule());
    for (std::int64_t i = 0; i < x.size(); ++i) {
      expect_rounded(dropped[i], expected[i], at(columns, i));
      EXPECT_EQ(dropped[i] == 0, expected[i] == 0) << at(columns, i);
      expect_rounded(sum[i], residual[i] + expected[i], at(columns, i));
    }
    EXPECT_TRUE(dropped.guards_stand() && sum.guards_stand());
  }
}

TEST_P(DropoutKernel, TheOutputMayOverwriteTheInputOrTheResidual) {
  constexpr std::int64_t columns = 65;
  Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
  Elements apart(type(), kRows * columns), over_x = x, over_residual = residual;
  const auto run = [&](Elements& from, Elements& added, Elements& to) {
    table().dropout[index()]({from.data(), added.data(), to.data(), columns, rule()}, 0, kRows);
  };
  run(x, residual, apart);
  run(over_x, residual, over_x);
  run(x, over_residual, over_residual);
  EXPECT_EQ(over_x, apart);
  EXPECT_EQ(over_residual, apart);
}

TEST_P(DropoutKernel, AfterReluPositiveElementsAreMultiplied) {
  for (const bool drops : {true, false})
    for (const std::int64_t columns : kColumns) {
      const DropoutRule dropout = drops ? rule() : DropoutRule{};
      Elements x = random_elements(kRows * columns), y(type(), kRows * columns), over_x = x;
      table().relu_dropout[index()]({x.data(), y.data(), columns, dropout}, 0, kRows);
      table().relu_dropout[index()]({over_x.data(), over_x.data(), columns, dropout}, 0, kRows);
      const auto expected = reference::dropout(reference::relu(x.values()), columns, dropout);
      for (std::int64_t i = 0; i < x.size(); ++i) expect_rounded(y[i], expected[i], at(columns, i));
      EXPECT_EQ(over_x, y);
      EXPECT_TRUE(y.guards_stand());
    }
}

TEST_P(DropoutKernel, TheGradientAfterReluIsTheFactorWhereTheOutputIsPositive) {
  for (const std::int64_t columns : kColumns) {
    Elements x = random_elements(kRows * columns), y(type(), kRows * columns);
    Elements dy = random_elements(kRows * columns), dx(type(), kRows * columns), over_dy = dy;
    table().relu_dropout[index()]({x.data(), y.data(), columns, rule()}, 0, kRows);
    const float scale = rule().scale();
    table().relu_dropout_gradient[index()]({y.data(), dy.data(), dx.data(), columns, scale}, 0,
                                           kRows);
    table().relu_dropout_gradient[index()](
        {y.data(), over_dy.data(), over_dy.data(), columns, scale}, 0, kRows);
    const reference::Numbers dropped = reference::dropout(dy.values(), columns, rule());
    for (std::int64_t i = 0; i < x.size(); ++i)
      expect_rounded(dx[i], x[i] > 0 ? dropped[i] : 0, at(columns, i));
    EXPECT_EQ(over_dy, dx);
    EXPECT_TRUE(dx.guards_stand());
  }
}

TEST_P(DropoutKernel, NotANumberStaysOneAfterRelu) {
  const std::vector<double> values(17, std::numeric_limits<double>::quiet_NaN());
  Elements x(type(), values);
  table().relu_dropout[index()]({x.data(), x.data(), 17, {}}, 0, 1);
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_TRUE(std::isnan(x[i]));
}

TEST_P(DropoutKernel, TheThresholdIn256OfTheElementsIsDropped) {
  constexpr std::int64_t columns = 1000, rows = 100;
  const auto keys = random_keys(random_, rows);
  Elements ones(type(), std::vector<double>(rows * columns, 1));
  for (const std::uint32_t threshold : {1U, 26U, 77U, 128U, 255U}) {
    Elements y(type(), rows * columns);
    table().dropout[index()](
        {ones.data(), nullptr, y.data(), columns, {keys.data(), 3, threshold, 1, rows}}, 0, rows);
    double dropped = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) dropped += y[i] == 0;
    const double rate = threshold / 256.0, count = rows * columns;
    EXPECT_NEAR(dropped / count, rate, 5 * std::sqrt(rate * (1 - rate) / count)) << threshold;
  }
}

TEST_P(DropoutKernel, RowsHeadsSitesAndNeighboursDropIndependently) {
  constexpr std::int64_t columns = 4096, queries = 4, rows = 2 * queries;  // two heads
  const auto keys = random_keys(random_, queries);
  Elements ones(type(), std::vector<double>(rows * columns, 1));
  const auto mask = [&](std::uint32_t number) {
    Elements y(type(), rows * columns);
    const DropoutRule dropout{keys.data(), number, 128, 2, queries};
    table().dropout[index()]({ones.data(), nullptr, y.data(), columns, dropout}, 0, rows);
    return y;
  };
  const Elements a = mask(0), b = mask(1);
  // Agreement of independent fair coins: half, within five standard deviations.
  const auto expect_independent = [](const Elements& one, std::int64_t from, const Elements& other,
                                     std::int64_t from_other) {
    double equal = 0;
    for (std::int64_t c = 0; c < columns - 1; ++c)
      equal += (one[from + c] == 0) == (other[from_other + c] == 0);
    EXPECT_NEAR(equal / (columns - 1), 0.5, 5 * 0.5 / std::sqrt(columns - 1.0));
  };
  for (std::int64_t row = 0; row < rows; ++row) {
    expect_independent(a, row * columns, b, row * columns);      // another site
    expect_independent(a, row * columns, a, row * columns + 1);  // the next column
    for (std::int64_t other = 0; other < row; ++other)           // another token or head
      expect_independent(a, row * columns, a, other * columns);
  }
}

TEST_P(DropoutKernel, RowsDoNotDependOnHowTheyAreSplit) {
  constexpr std::int64_t columns = 67;
  Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
  const Elements fresh(type(), kRows * columns);
  expect_same_when_split<DropoutArguments>(
      table().dropout,
      [&](Elements& y) {
        return DropoutArguments{x.data(), residual.data(), y.data(), columns, rule()};
      },
      fresh, kRows);
  expect_same_when_split<ReluDropoutArguments>(
      table().relu_dropout,
      [&](Elements& y) {
        return ReluDropoutArguments{x.data(), y.data(), columns, rule()};
      },
      fresh, kRows);
  expect_same_when_split<ReluDropoutGradientArguments>(
      table().relu_dropout_gradient,
      [&](Elements& dx) {
        return ReluDropoutGradientArguments{x.data(), residual.data(), dx.data(), columns, 1.25F};
      },
      fresh, kRows);
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(DropoutKernel);

}  // namespace
}  // namespace dragoman
