#include <string>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

/// Of a layer with `outputs` and `inputs`.
struct Shape {
  std::int64_t rows, outputs, inputs;
};

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
