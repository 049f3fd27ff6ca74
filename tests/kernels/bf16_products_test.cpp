#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

// Products

/// Rows that pass through a layer with `outputs` and `inputs`.
struct Shape {
  std::int64_t rows, outputs, inputs;
};

std::string at(const Shape& shape, std::int64_t i) {
  return std::to_string(shape.rows) + " rows, " + std::to_string(shape.outputs) + " outputs, " +
         std::to_string(shape.inputs) + " inputs, index " + std::to_string(i);
}

class ProductKernels : public ProductTest {
 protected:
  /// A layer with everything that a product may have.
  struct Layer {
    Elements x, weight, transposed, bias, packed, y;

    ProductArguments arguments(const Shape& shape, bool with_bias = true) {
      return {x.data(), packed.data(), with_bias ? bias.data() : nullptr,
              y.data(), shape.inputs,  shape.outputs};
    }
  };

  Layer layer(const Shape& shape) {
    Elements weight = quarters(shape.outputs * shape.inputs, 2);
    std::vector<double> turned(static_cast<std::size_t>(weight.size()));
    for (std::int64_t i = 0; i < weight.size(); ++i)
      turned[i % shape.inputs * shape.outputs + i / shape.inputs] = weight[i];
    Layer result{quarters(shape.rows * shape.inputs, 2),
                 weight,
                 {type(), turned},
                 quarters(shape.outputs),
                 {type(), packed_size(shape.outputs, shape.inputs)},
                 {type(), shape.rows * shape.outputs}};
    pack(shape, result.weight, false, result.packed);
    return result;
  }

  void pack(const Shape& shape, Elements& weight, bool transposed, Elements& packed) {
    run_rows(table().pack_weights, type(),
             PackArguments{weight.data(), packed.data(), shape.inputs, shape.outputs, transposed},
             (shape.outputs + kProductPanel - 1) / kProductPanel, 1);
    EXPECT_TRUE(packed.guards_stand());
  }

  static reference::Numbers formula(const Shape& shape, const Layer& layer) {
    return reference::product(layer.x.values(), layer.weight.values(), shape.inputs);
  }

  template <class Expected>
  void expect_all(const Shape& shape, const Layer& layer, Expected&& expected) {
    EXPECT_TRUE(layer.y.guards_stand());
    for (std::int64_t i = 0; i < layer.y.size(); ++i)
      expect_rounded(layer.y[i], expected(i), at(shape, i));
  }

  /// One and a few of each; parts of tiles, panels, vectors and pairs; more rows than are met one
  /// after another, and more inputs than are summed at once.
  const std::vector<Shape> shapes_ = {{1, 1, 1},      {5, 3, 2},      {6, 64, 8},
                                      {7, 65, 33},    {48, 96, 16},   {53, 130, 31},
                                      {100, 20, 128}, {11, 70, 2050}, {13, 9, 4099}};
};

TEST_P(ProductKernels, WeightsAndTransposedOnesArePackedAlike) {
  for (const Shape& shape : shapes_) {
    Layer l = layer(shape);
    Elements again(type(), l.packed.size());
    pack(shape, l.transposed, true, again);
    EXPECT_EQ(again, l.packed) << at(shape, 0);
  }
}

TEST_P(ProductKernels, TheBiasIsAdded) {
  for (const Shape& shape : shapes_)
    for (const bool bias : {true, false}) {
      Layer l = layer(shape);
      table().product[index()](l.arguments(shape, bias), 0, shape.rows);
      const reference::Numbers products = formula(shape, l);
      expect_all(shape, l, [&](std::int64_t i) {
        return products[i] + (bias ? l.bias[i % shape.outputs] : 0);
      });
    }
}

TEST_P(ProductKernels, ReluAndDropoutAreApplied) {
  for (const Shape& shape : shapes_) {
    const auto keys = random_keys(random_, shape.rows);
    for (const DropoutRule& dropout :
         {DropoutRule{keys.data(), 9, 77, 1, shape.rows}, DropoutRule{}}) {
      Layer l = layer(shape);
      table().relu_product[index()]({l.arguments(shape), dropout}, 0, shape.rows);
      const reference::Numbers products = formula(shape, l);
      expect_all(shape, l, [&](std::int64_t i) {
        return std::max(products[i] + l.bias[i % shape.outputs], 0.0) *
               reference::dropout_factor(dropout, i / shape.outputs, i % shape.outputs);
      });
    }
  }
}

TEST_P(ProductKernels, AGradientPassesThroughReluAndDropout) {
  for (const Shape& shape : shapes_) {
    Layer l = layer(shape);
    Elements kept = quarters(l.y.size());
    table().relu_gradient_product[index()]({l.arguments(shape, false), kept.data(), 1.25F}, 0,
                                           shape.rows);
    const reference::Numbers products = formula(shape, l);
    expect_all(shape, l, [&](std::int64_t i) { return kept[i] > 0 ? products[i] * 1.25 : 0; });
  }
}

TEST_P(ProductKernels, RowsAreScaledAndOffsetsTakenOff) {
  for (const Shape& shape : shapes_) {
    Layer l = layer(shape);
    std::vector<float> scales, offsets;
    for (std::int64_t row = 0; row < shape.rows; ++row)
      scales.push_back(static_cast<float>(row % 4) / 2);
    for (std::int64_t c = 0; c < shape.outputs; ++c)
      offsets.push_back(static_cast<float>(c % 7) / 4);
    table().scaled_product[index()]({l.arguments(shape, false), scales.data(), offsets.data()}, 0,
                                    shape.rows);
    const reference::Numbers products = formula(shape, l);
    expect_all(shape, l, [&](std::int64_t i) {
      const double scale = scales[i / shape.outputs];
      return scale == 0 ? 0 : products[i] * scale - offsets[i % shape.outputs];
    });
  }
}

TEST_P(ProductKernels, RowsDoNotDependOnHowTheyAreSplit) {
  const Shape shape{60, 70, 130};
  Layer l = layer(shape);
  l.x = random_elements(l.x.size());
  expect_same_when_split<ProductArguments>(
      table().product,
      [&](Elements& y) {
        ProductArguments arguments = l.arguments(shape);
        arguments.y = y.data();
        return arguments;
      },
      Elements(type(), l.y.size()), shape.rows);
}

TEST_P(ProductKernels, NotANumberStaysInItsRow) {
  const Shape shape{8, 70, 33};
  Layer l = layer(shape);
  auto values = uniform_values(random_, l.x.size(), 2);
  values[2 * shape.inputs - 1] = std::nan("");
  l.x = {type(), values};
  table().relu_product[index()]({l.arguments(shape), {}}, 0, shape.rows);
  for (std::int64_t i = 0; i < l.y.size(); ++i)
    EXPECT_EQ(std::isnan(l.y[i]), i / shape.outputs == 1) << at(shape, i);
}

DRAGOMAN_FOR_EACH_PRODUCT_TABLE(ProductKernels);

// The loss of an output projection

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

// The gradient of a weight

class WeightGradientKernel : public ProductTest {
 protected:
  static WeightGradientArguments arguments(const Shape& shape, Elements& dy, Elements& x,
                                           Elements& sums, Elements* gradient, bool add,
                                           Elements* start = nullptr) {
    return {dy.data(),
            x.data(),
            static_cast<float*>(sums.data()),
            gradient ? gradient->data() : nullptr,
            start ? static_cast<const float*>(start->data()) : nullptr,
            shape.rows,
            shape.outputs,
            shape.inputs,
            add};
  }

  static reference::Numbers formula(const Shape& shape, const Elements& dy, const Elements& x) {
    return reference::weight_gradient(dy.values(), x.values(), shape.outputs, shape.inputs);
  }

  static std::int64_t blocks(const Shape& shape) {
    return (shape.outputs + kOutputBlock - 1) / kOutputBlock;
  }

  /// One and a few of each; more rows, outputs and inputs than are laid out at once; and parts of
  /// what vectors and tiles hold.
  const std::vector<Shape> shapes_ = {{1, 1, 1},     {2, 3, 5},     {3, 6, 64},    {255, 7, 63},
                                      {256, 96, 16}, {257, 97, 65}, {600, 13, 33}, {31, 200, 600}};
};

TEST_P(WeightGradientKernel, TheGradientIsTheSumOfTheRowsProducts) {
  for (const Shape& shape : shapes_) {
    const std::int64_t count = shape.outputs * shape.inputs;
    Elements dy = quarters(shape.rows * shape.outputs), x = quarters(shape.rows * shape.inputs);
    Elements sums(ElementType::Float32, count), gradient(type(), count);
    run_rows(table().weight_gradient, type(), arguments(shape, dy, x, sums, &gradient, false),
             blocks(shape), 1);
    EXPECT_TRUE(sums.guards_stand());
    EXPECT_TRUE(gradient.guards_stand());
    const reference::Numbers expected = formula(shape, dy, x);
    for (std::int64_t i = 0; i < count; ++i)
      expect_rounded(gradient[i], expected[i],
                     std::to_string(shape.outputs) + " outputs, index " + std::to_string(i));
  }
}

TEST_P(WeightGradientKernel, TheGradientIsAddedToSumsInFp32) {
  for (const Shape& shape : shapes_) {
    const std::int64_t count = shape.outputs * shape.inputs;
    Elements dy = quarters(shape.rows * shape.outputs), x = quarters(shape.rows * shape.inputs);
    Elements sums(ElementType::Float32, std::vector<double>(static_cast<std::size_t>(count), 0.5));
    run_rows(table().weight_gradient, type(), arguments(shape, dy, x, sums, nullptr, true),
             blocks(shape), 1);
    EXPECT_TRUE(sums.guards_stand());
    const reference::Numbers expected = formula(shape, dy, x);
    for (std::int64_t i = 0; i < count; ++i) EXPECT_EQ(sums[i], 0.5 + expected[i]);
  }
}

TEST_P(WeightGradientKernel, AStartThatAllOutputsShareIsAdded) {
  for (const Shape& shape : shapes_) {
    Elements dy = quarters(shape.rows * shape.outputs), x = quarters(shape.rows * shape.inputs);
    Elements sums(ElementType::Float32, shape.outputs * shape.inputs);
    Elements start(ElementType::Float32, uniform_values(random_, shape.inputs, 3));
    Elements gradient(type(), sums.size());
    run_rows(table().weight_gradient, type(),
             arguments(shape, dy, x, sums, &gradient, false, &start), blocks(shape), 1);
    EXPECT_TRUE(gradient.guards_stand());
    const reference::Numbers expected = formula(shape, dy, x);
    for (std::int64_t i = 0; i < sums.size(); ++i)
      expect_rounded(gradient[i], start[i % shape.inputs] + expected[i],
                     "index " + std::to_string(i));
  }
}

TEST_P(WeightGradientKernel, BlocksDoNotDependOnHowTheyAreSplit) {
  const Shape shape{300, 3 * kOutputBlock - 5, 70};
  Elements dy = random_elements(shape.rows * shape.outputs);
  Elements x = random_elements(shape.rows * shape.inputs);
  expect_same_when_split<WeightGradientArguments>(
      table().weight_gradient,
      [&](Elements& sums) { return arguments(shape, dy, x, sums, nullptr, false); },
      Elements(ElementType::Float32, shape.outputs * shape.inputs), blocks(shape));
}

DRAGOMAN_FOR_EACH_PRODUCT_TABLE(WeightGradientKernel);

}  // namespace
}  // namespace dragoman
