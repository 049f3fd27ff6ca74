#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

/// Of a layer with `outputs` and `inputs`.
struct Shape {
  std::int64_t rows, outputs, inputs;
};

class WeightGradientKernel : public KernelTest {
 protected:
  /// Quarters, whose products and sums fp32 has exactly.
  Elements quarters(std::int64_t count) {
    auto values = uniform_values(random_, count, 3);
    for (double& value : values) value = std::round(4 * value) / 4;
    return {type(), values};
  }

  static WeightGradientArguments arguments(const Shape& shape, Elements& dy, Elements& x,
                                           Elements& sums, Elements* gradient, bool add) {
    return {dy.data(),
            x.data(),
            static_cast<float*>(sums.data()),
            gradient ? gradient->data() : nullptr,
            shape.rows,
            shape.outputs,
            shape.inputs,
            add};
  }

  static double formula(const Shape& shape, const Elements& dy, const Elements& x,
                        std::int64_t output, std::int64_t input) {
    double sum = 0;
    for (std::int64_t row = 0; row < shape.rows; ++row)
      sum += dy[row * shape.outputs + output] * x[row * shape.inputs + input];
    return sum;
  }

  static std::int64_t blocks(const Shape& shape) {
    return (shape.outputs + kOutputBlock - 1) / kOutputBlock;
  }

  /// One and a few of each; more rows, outputs and inputs than are laid out at once; and parts of
  /// what vectors and tiles hold.
  const std::vector<Shape> shapes_ = {{1, 1, 1},     {2, 3, 5},     {3, 6, 64},    {255, 7, 63},
                                      {256, 96, 16}, {257, 97, 65}, {600, 13, 33}, {31, 200, 600}};
};

TEST_P(WeightGradientKernel, IsTheSumOfTheRowsProducts) {
  for (const Shape& shape : shapes_) {
    const std::int64_t count = shape.outputs * shape.inputs;
    Elements dy = quarters(shape.rows * shape.outputs), x = quarters(shape.rows * shape.inputs);
    Elements sums(ElementType::Float32, count), gradient(type(), count);
    run_rows(table().weight_gradient, type(), arguments(shape, dy, x, sums, &gradient, false),
             blocks(shape), 1);
    EXPECT_TRUE(sums.guards_stand());
    EXPECT_TRUE(gradient.guards_stand());
    for (std::int64_t i = 0; i < count; ++i)
      expect_rounded(gradient[i], formula(shape, dy, x, i / shape.inputs, i % shape.inputs),
                     std::to_string(shape.outputs) + " outputs, place " + std::to_string(i));
  }
}

TEST_P(WeightGradientKernel, IsAddedToSumsInFp32) {
  for (const Shape& shape : shapes_) {
    const std::int64_t count = shape.outputs * shape.inputs;
    Elements dy = quarters(shape.rows * shape.outputs), x = quarters(shape.rows * shape.inputs);
    Elements sums(ElementType::Float32, std::vector<double>(static_cast<std::size_t>(count), 0.5));
    run_rows(table().weight_gradient, type(), arguments(shape, dy, x, sums, nullptr, true),
             blocks(shape), 1);
    EXPECT_TRUE(sums.guards_stand());
    for (std::int64_t i = 0; i < count; ++i)
      EXPECT_EQ(sums[i], 0.5 + formula(shape, dy, x, i / shape.inputs, i % shape.inputs));
  }
}

TEST_P(WeightGradientKernel, BlocksDoNotDependOnHowTheyAreSplit) {
  const Shape shape{300, 3 * kOutputBlock - 5, 70};
  Elements dy = random_elements(shape.rows * shape.outputs);
  Elements x = random_elements(shape.rows * shape.inputs);
  expect_same_in_pieces<WeightGradientArguments>(
      table().weight_gradient,
      [&](Elements& sums) { return arguments(shape, dy, x, sums, nullptr, false); },
      Elements(ElementType::Float32, shape.outputs * shape.inputs), blocks(shape));
}

/// The tables and types that have one.
std::vector<std::tuple<const KernelTable*, ElementType>> offered() {
  std::vector<std::tuple<const KernelTable*, ElementType>> list;
  for (const KernelTable* table : available_tables())
    for (const auto type : {ElementType::Float32, ElementType::BFloat16})
      if (table->weight_gradient[static_cast<int>(type)] != nullptr) list.emplace_back(table, type);
  return list;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WeightGradientKernel);
INSTANTIATE_TEST_SUITE_P(Tables, WeightGradientKernel, testing::ValuesIn(offered()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)->name);
                         });

}  // namespace
}  // namespace dragoman
