#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

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

}  // namespace
}  // namespace dragoman
