#include <cmath>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr std::int64_t kColumns[] = {1, 3, 16, 17, 64, 65, 130};
constexpr std::int64_t kRows = 7, kRowsPerPart = 3, kParts = 3;
constexpr float kEpsilon = 1e-5F;

struct Statistics {
  double mean, inverse;
};

class AddNormKernel : public KernelTest {
 protected:
  DropoutSite site(bool drops) const {
    return {drops ? keys_.data() : nullptr, 9, drops ? 77U : 0U, 1, kRows};
  }
  /// Of a row of the sum.
  static Statistics statistics(const Elements& sum, std::int64_t row, std::int64_t columns) {
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < columns; ++c) mean += sum[row * columns + c] / columns;
    for (std::int64_t c = 0; c < columns; ++c)
      variance += std::pow(sum[row * columns + c] - mean, 2) / columns;
    return {mean, 1 / std::sqrt(variance + kEpsilon)};
  }
  static std::string place(std::int64_t columns, std::int64_t i) {
    return "columns " + std::to_string(columns) + ", element " + std::to_string(i);
  }
  void expect_near(double actual, double expected, const std::string& where) const {
    EXPECT_NEAR(actual, expected, (is_float() ? 2e-5 : 1e-2) * (1 + std::abs(expected))) << where;
  }

  std::vector<std::int32_t> keys_ = random_keys(random_, kRows);
};

TEST_P(AddNormKernel, NormalizesResidualPlusDropout) {
  for (const std::int64_t columns : kColumns)
    for (const bool drops : {false, true}) {
      Elements x = random_elements(kRows * columns), residual = random_elements(kRows * columns);
      Elements gain = random_elements(columns), bias = random_elements(columns);
      Elements sum(type(), kRows * columns), y(type(), kRows * columns);
      std::vector<float> means(kRows), inverses(kRows);
      const NormArguments arguments{x.data(),   residual.data(), gain.data(),  bias.data(),
                                    sum.data(), y.data(),        means.data(), inverses.data(),
                                    columns,    kEpsilon,        site(drops)};
      table().add_norm[index()](arguments, 0, kRows);
      for (std::int64_t i = 0; i < x.size(); ++i) {
        const std::int64_t row = i / columns, c = i % columns;
        const double factor = drops ? dropout_factor(site(true), row, c) : 1;
        expect_rounded(sum[i], residual[i] + x[i] * factor, place(columns, i));
        const auto [mean, inverse] = statistics(sum, row, columns);
        expect_near(means[row], mean, "mean");
        EXPECT_NEAR(inverses[row], inverse, 1e-4 * inverse);
        if (columns > 1)
          expect_near(y[i], (sum[i] - mean) * inverse * gain[c] + bias[c], place(columns, i));
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
                         nullptr,  nullptr, columns,     kEpsilon,    site(false)};
  };
  table().add_norm[index()](arguments(sum.data(), y), 0, kRows);
  table().add_norm[index()](arguments(nullptr, without), 0, kRows);
  EXPECT_EQ(sum, x);
  EXPECT_EQ(y, without);
  expect_same_in_pieces<NormArguments>(
      table().add_norm, [&](Elements& result) { return arguments(nullptr, result); },
      Elements(type(), x.size()), kRows);
}

TEST_P(AddNormKernel, ItsGradientIsTheFormulasOnOneRowAndTheSumsOfParts) {
  for (const std::int64_t columns : kColumns)
    for (const auto& [drops, adds] : {std::pair(false, false), {true, false}, {true, true}}) {
      Elements dy = random_elements(kRows * columns), elsewhere = random_elements(kRows * columns);
      Elements sum = random_elements(kRows * columns);
      Elements gain = random_elements(columns);
      std::vector<float> means, inverses;
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto [mean, inverse] = statistics(sum, row, columns);
        means.push_back(static_cast<float>(mean));
        inverses.push_back(static_cast<float>(inverse));
      }
      Elements d_sum(type(), sum.size()), d_x(type(), sum.size());
      std::vector<float> d_gain(kParts * columns, 0.5F), d_bias(kParts * columns, 0.25F);
      const NormGradientArguments arguments{dy.data(),     adds ? elsewhere.data() : nullptr,
                                            sum.data(),    gain.data(),
                                            means.data(),  inverses.data(),
                                            d_sum.data(),  drops ? d_x.data() : nullptr,
                                            d_gain.data(), d_bias.data(),
                                            kRowsPerPart,  columns,
                                            site(drops)};
      run_rows(table().add_norm_gradient, type(), arguments, kRows, kRowsPerPart);
      std::vector<double> gains(d_gain.size(), 0.5), biases(d_bias.size(), 0.25);
      for (std::int64_t row = 0; row < kRows; ++row) {
        const auto normalized = [&](std::int64_t c) {
          return (sum[row * columns + c] - means[row]) * inverses[row];
        };
        double total = 0, product = 0;
        for (std::int64_t c = 0; c < columns; ++c) {
          const double scaled = dy[row * columns + c] * gain[c];
          total += scaled / columns;
          product += scaled * normalized(c) / columns;
          gains[row / kRowsPerPart * columns + c] += dy[row * columns + c] * normalized(c);
          biases[row / kRowsPerPart * columns + c] += dy[row * columns + c];
        }
        for (std::int64_t c = 0; c < columns && columns > 1; ++c) {
          const std::int64_t i = row * columns + c;
          const double expected =
              (dy[i] * gain[c] - total - normalized(c) * product) * inverses[row] +
              (adds ? elsewhere[i] : 0);
          expect_near(d_sum[i], expected, place(columns, i));
          if (drops)
            expect_near(d_x[i], expected * dropout_factor(site(true), row, c), place(columns, i));
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
