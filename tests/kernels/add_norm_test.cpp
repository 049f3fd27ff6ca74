#include <cmath>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 16, 17, 64, 65, 130};
constexpr std::int64_t kRows = 7, kRowsPerSum = 3, kSums = 3;
constexpr float kEpsilon = 1e-5F;

class AddNormKernel : public KernelTest {
 protected:
  DropoutRule rule(bool drops) const {
    return {drops ? keys_.data() : nullptr, 9, drops ? 77U : 0U, 1, kRows};
  }
  static std::string at(std::int64_t columns, std::int64_t i) {
    return "columns " + std::to_string(columns) + ", element " + std::to_string(i);
  }
  void expect_near(double actual, double expected, const std::string& where) const {
    EXPECT_NEAR(actual, expected, (is_float() ? 2e-5 : 1e-2) * (1 + std::abs(expected))) << where;
  }

  std::vector<std::int32_t> keys_ = random_keys(random_, kRows);
};

TEST_P(AddNormKernel, TheSumOfResidualAndDropoutIsNormalised) {
  for (const std::int64_t columns : kColumns)
    for (const bool drops : {false, true}) {
      Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
      Elements gain = random_elements(columns), bias = random_elements(columns);
      Elements sum(type(), kRows * columns), y(type(), kRows * columns);
      std::vector<float> means(kRows), inverses(kRows);
      const NormArguments arguments{x.data(),   residual.data(), gain.data(),  bias.data(),
                                    sum.data(), y.data(),        means.data(), inverses.data(),
                                    columns,    kEpsilon,        rule(drops)};
      table().add_norm[index()](arguments, 0, kRows);
      const reference::Numbers dropped = reference::dropout(x.values(), columns, rule(drops));
      const reference::Numbers sums = sum.values();
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto sum_row = reference::row_of(sums, row, columns);
        const auto of = reference::statistics(sum_row, kEpsilon);
        const reference::Numbers normalized = reference::normalized(sum_row, of);
        expect_near(means[row], of.mean, "mean");
        EXPECT_NEAR(inverses[row], of.inverse_deviation, 1e-4 * of.inverse_deviation);
        for (std::int64_t c = 0; c < columns; ++c) {
          const std::int64_t i = row * columns + c;
          expect_rounded(sum[i], residual[i] + dropped[i], at(columns, i));
          if (columns > 1) expect_near(y[i], normalized[c] * gain[c] + bias[c], at(columns, i));
        }
      }
      EXPECT_TRUE(sum.guards_stand() && y.guards_stand());
    }
}

TEST_P(AddNormKernel, WithNothingToAddTheInputIsTheSum) {
  constexpr std::int64_t columns = 65;
  Elements x = random_elements(kRows * columns), gain = random_elements(columns);
  Elements bias = random_elements(columns);
  Elements sum(type(), x.size()), y(type(), x.size()), without(type(), x.size());
  const auto arguments = [&](void* sums, Elements& result) {
    return NormArguments{x.data(), nullptr, gain.data(), bias.data(), sums,       result.data(),
                         nullptr,  nullptr, columns,     kEpsilon,    rule(false)};
  };
  table().add_norm[index()](arguments(sum.data(), y), 0, kRows);
  table().add_norm[index()](arguments(nullptr, without), 0, kRows);
  EXPECT_EQ(sum, x);
  EXPECT_EQ(y, without);
  expect_same_when_split<NormArguments>(
      table().add_norm, [&](Elements& result) { return arguments(nullptr, result); },
      Elements(type(), x.size()), kRows);
}

TEST_P(AddNormKernel, TheGradientIsTheFormulasOnOneRowAndTheSumOverStretches) {
  for (const std::int64_t columns : kColumns)
    for (const auto& [drops, adds] : {std::pair(false, false), {true, false}, {true, true}}) {
      Elements dy = random_elements(kRows * columns), elsewhere = random_elements(kRows * columns);
      Elements sum = random_elements(kRows * columns);
      Elements gain = random_elements(columns);
      const reference::Numbers dys = dy.values(), sums = sum.values(), gain_row = gain.values();
      std::vector<float> means, inverses;
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto of = reference::statistics(reference::row_of(sums, row, columns), kEpsilon);
        means.push_back(static_cast<float>(of.mean));
        inverses.push_back(static_cast<float>(of.inverse_deviation));
      }
      Elements d_sum(type(), sum.size()), d_x(type(), sum.size());
      std::vector<float> d_gain(kSums * columns, 0.5F), d_bias(kSums * columns, 0.25F);
      const NormGradientArguments arguments{dy.data(),     adds ? elsewhere.data() : nullptr,
                                            sum.data(),    gain.data(),
                                            means.data(),  inverses.data(),
                                            d_sum.data(),  drops ? d_x.data() : nullptr,
                                            d_gain.data(), d_bias.data(),
                                            kRowsPerSum,   columns,
                                            rule(drops)};
      run_rows(table().add_norm_gradient, type(), arguments, kRows, kRowsPerSum);
      std::vector<double> gains(d_gain.size(), 0.5), biases(d_bias.size(), 0.25);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const reference::Statistics of{means[row], inverses[row]};
        const auto dy_row = reference::row_of(dys, row, columns);
        const auto sum_row = reference::row_of(sums, row, columns);
        const reference::Numbers normalized = reference::normalized(sum_row, of);
        const reference::Numbers gradient = reference::norm_gradient(dy_row, gain_row, sum_row, of);
        for (std::int64_t c = 0; c < columns; ++c) {
          gains[row / kRowsPerSum * columns + c] += dy_row[c] * normalized[c];
          biases[row / kRowsPerSum * columns + c] += dy_row[c];
          if (columns == 1) continue;
          const std::int64_t i = row * columns + c;
          const double expected = gradient[c] + (adds ? elsewhere[i] : 0);
          expect_near(d_sum[i], expected, at(columns, i));
          if (drops)
            expect_near(d_x[i], expected * reference::dropout_factor(rule(true), row, c),
                        at(columns, i));
        }
      }
      for (std::size_t i = 0; i < gains.size(); ++i) {
        EXPECT_NEAR(d_gain[i], gains[i], 1e-3) << i;
        EXPECT_NEAR(d_bias[i], biases[i], 1e-3) << i;
      }
      EXPECT_TRUE(d_sum.guards_stand() && d_x.guards_stand());
    }
}

DRAGOMAN_FOR_EACH_KERNEL_TABLE(AddNormKernel);

}  // namespace
}  // namespace dragoman
