#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

class ProjectedLossKernel : public ProductTest {
 protected:
  struct Example {
    std::int64_t rows, outputs, inputs;
    float smoothing;
    Elements x, weight, packed, exponentials, scaled;
    std::vector<float> weight_sum, inverses, losses, negative_log_likelihoods;
    std::vector<std::int64_t> targets;

    ProjectedLossArguments arguments() {
      return {{x.data(), packed.data(), nullptr, exponentials.data(), inputs, outputs},
              weight.data(),
              weight_sum.data(),
              targets.data(),
              inverses.data(),
              scaled.data(),
              losses.data(),
              negative_log_likelihoods.data(),
              smoothing};
    }

    reference::Numbers logits() const {  // [rows, outputs]
      return reference::product(x.values(), weight.values(), inputs);
    }
  };

  Example example(std::int64_t rows, std::int64_t outputs, std::int64_t inputs, float smoothing,
                  double range = 1) {
    const auto count = static_cast<std::size_t>(rows);
    Example e{rows,
              outputs,
              inputs,
              smoothing,
              quarters(rows * inputs, range),
              quarters(outputs * inputs, range),
              {type(), packed_size(outputs, inputs)},
              {type(), rows * outputs},
              {type(), rows * inputs},
              std::vector<float>(static_cast<std::size_t>(inputs)),
              std::vector<float>(count, -1),
              std::vector<float>(count, -1),
              std::vector<float>(count, -1),
              {}};
    for (std::int64_t i = 0; i < e.weight.size(); ++i)
      e.weight_sum[i % inputs] += static_cast<float>(e.weight[i]);
    for (std::int64_t row = 0; row < rows; ++row)
      e.targets.push_back(static_cast<std::int64_t>(random_.below(outputs)));
    table().pack_weights[index()]({e.weight.data(), e.packed.data(), inputs, outputs, false}, 0,
                                  (outputs + kProductPanel - 1) / kProductPanel);
    return e;
  }

  /// The cross-entropy of the header, and what makes its gradient.
  void expect_formula(const Example& e) {
    EXPECT_TRUE(e.exponentials.guards_stand() && e.scaled.guards_stand());
    const reference::Numbers all = e.logits();
    for (std::int64_t row = 0; row < e.rows; ++row) {
      const std::int64_t target = e.targets[row];
      const auto logits = reference::row_of(all, row, e.outputs);
      const auto [total, y] = reference::projected_loss(logits, target, e.smoothing);
      EXPECT_NEAR(e.negative_log_likelihoods[row], std::log(total), 2e-5) << row;
      EXPECT_NEAR(e.losses[row], reference::cross_entropy(logits, target, e.smoothing), 2e-5)
          << row;
      EXPECT_NEAR(e.inverses[row] * total, 1, 2e-5);
      for (std::int64_t c = 0; c < e.outputs; ++c)
        EXPECT_NEAR(e.exponentials[row * e.outputs + c], y[c], std::abs(y[c]) / 200 + 1e-5 * total)
            << row << ", " << c;
      for (std::int64_t k = 0; k < e.inputs; ++k) {
        const double expected = e.x[row * e.inputs + k] / total;
        EXPECT_NEAR(e.scaled[row * e.inputs + k], expected, std::abs(expected) / 200);
      }
    }
  }
};

TEST_P(ProjectedLossKernel, TheLossIsTheCrossEntropyOfTheProduct) {
  for (const float smoothing : {0.0F, 0.1F})
    for (const auto& [rows, outputs, inputs] :
         {std::tuple(1, 2, 1), {7, 64, 16}, {50, 131, 33}, {55, 300, 20}}) {
      Example e = example(rows, outputs, inputs, smoothing);
      table().projected_loss[index()](e.arguments(), 0, e.rows);
      expect_formula(e);
    }
}

TEST_P(ProjectedLossKernel, RowsWithoutATargetHaveNoLoss) {
  Example e = example(9, 70, 16, 0.1F);
  e.targets[3] = -1;
  table().projected_loss[index()](e.arguments(), 0, e.rows);
  EXPECT_EQ(e.losses[3], 0);
  EXPECT_EQ(e.negative_log_likelihoods[3], 0);
  EXPECT_EQ(e.inverses[3], 0);
  for (std::int64_t c = 0; c < e.outputs; ++c) EXPECT_EQ(e.exponentials[3 * e.outputs + c], 0);
  for (std::int64_t k = 0; k < e.inputs; ++k) EXPECT_EQ(e.scaled[3 * e.inputs + k], 0);
  EXPECT_GT(e.losses[2], 0);
}

TEST_P(ProjectedLossKernel, ATotalOutOfReachIsReported) {
  Example e = example(9, 70, 64, 0.1F, 12);  // logits in the hundreds
  table().projected_loss[index()](e.arguments(), 0, e.rows);
  int out_of_reach = 0;
  const reference::Numbers all = e.logits();
  for (std::int64_t row = 0; row < e.rows; ++row) {
    const auto logits = reference::row_of(all, row, e.outputs);
    const double highest = *std::ranges::max_element(logits) - logits[e.targets[row]];
    if (highest > 70) ++out_of_reach;
    EXPECT_EQ(std::isnan(e.losses[row]), highest > 62.38) << highest;  // log(2^90)
  }
  EXPECT_GT(out_of_reach, 5);
}

DRAGOMAN_FOR_EACH_PRODUCT_TABLE(ProjectedLossKernel);

}  // namespace
}  // namespace dragoman
