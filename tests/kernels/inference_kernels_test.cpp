#include "kernels/inference_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr float kGuard = 12345;

struct Shape {
  std::int64_t rows, inputs, outputs;
};
const std::vector<Shape> kShapes = {{1, 1, 1},    {2, 3, 5},     {3, 64, 64},   {5, 17, 65},
                                    {6, 130, 31}, {7, 8, 200},   {13, 96, 129}, {16, 33, 48},
                                    {16, 64, 64}, {21, 192, 70}, {37, 128, 200}};

class Linear : public InferenceKernelsTest {
 protected:
  /// The products x W^T, and those of the absolute values, which bound the rounding of sums.
  struct Products {
    reference::Numbers sums, sizes;
  };

  static Products products(const std::vector<float>& x, const std::vector<float>& w,
                           std::int64_t inputs) {
    reference::Numbers a(x.begin(), x.end()), b(w.begin(), w.end());
    Products result{reference::product(a, b, inputs), {}};
    for (reference::Numbers* factor : {&a, &b})
      for (double& value : *factor) value = std::abs(value);
    result.sizes = reference::product(a, b, inputs);
    return result;
  }

  /// With `y_stride` outputs a row, and without what only int8 has.
  static LinearArguments arguments_of(const Shape& shape, const void* x, const void* packed,
                                      const std::vector<float>& bias, std::vector<float>& y,
                                      std::int64_t y_stride) {
    return {.x = x,
            .x_scales = nullptr,
            .weights = packed,
            .weight_scales = nullptr,
            .offsets = nullptr,
            .bias = bias.data(),
            .y = y.data(),
            .inputs = shape.inputs,
            .outputs = shape.outputs,
            .y_stride = y_stride,
            .relu = false};
  }

  void run(NumberType type, const LinearArguments& arguments, std::int64_t rows) const {
    table().linear[static_cast<std::size_t>(type)](
        arguments, rows, 0, table().padded_outputs(arguments.outputs) / table().panel);
  }

  /// y of `rows` rows with guards after each.
  std::vector<float> run_float(const Shape& shape, const std::vector<float>& x,
                               const std::vector<float>& packed, const std::vector<float>& bias,
                               bool relu) const {
    std::vector<float> y(static_cast<std::size_t>(shape.rows * (shape.outputs + 3)), kGuard);
    LinearArguments arguments =
        arguments_of(shape, x.data(), packed.data(), bias, y, shape.outputs + 3);
    arguments.relu = relu;
    run(NumberType::Float32, arguments, shape.rows);
    return y;
  }
};

TEST_P(Linear, TheProductOfFloatsIsExactAndEachRowTheSameAlone) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs), w = values(shape.outputs * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs);
    auto bias = values(padded);
    std::vector<float> packed(static_cast<std::size_t>(padded * shape.inputs));
    table().pack_float(w.data(), shape.outputs, shape.inputs, packed.data());
    const Products expected = products(x, w, shape.inputs);
    for (const bool relu : {false, true}) {
      const auto y = run_float(shape, x, packed, bias, relu);
      const std::int64_t stride = shape.outputs + 3;
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        for (std::int64_t o = 0; o < shape.outputs; ++o) {
          const std::int64_t i = r * shape.outputs + o;
          const double sum = expected.sums[i] + bias[o],
                       size = expected.sizes[i] + std::abs(bias[o]);
          ASSERT_NEAR(y[r * stride + o], relu ? std::max(sum, 0.0) : sum, 1e-6 * size + 1e-12)
              << shape.rows << "x" << shape.inputs << "x" << shape.outputs << " " << r << "," << o;
        }
        for (std::int64_t o = shape.outputs; o < stride; ++o) ASSERT_EQ(y[r * stride + o], kGuard);
        const std::vector<float> row(x.begin() + r * shape.inputs,
                                     x.begin() + (r + 1) * shape.inputs);
        const auto alone = run_float({1, shape.inputs, shape.outputs}, row, packed, bias, relu);
        ASSERT_TRUE(std::equal(alone.begin(), alone.end(), y.begin() + r * stride));
      }
    }
  }
}

/// To the nearest of bf16's numbers, ties to even.
float in_bf16(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

TEST_P(Linear, TheProductInBf16IsThatOfRoundedNumbers) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs), w = values(shape.outputs * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs),
                       inputs = InferenceKernels::padded_inputs(shape.inputs);
    const auto bias = values(padded);
    std::vector<std::uint16_t> packed(static_cast<std::size_t>(padded * inputs));
    table().pack_bf16(w.data(), shape.outputs, shape.inputs, packed.data());
    std::vector<float> rounded(static_cast<std::size_t>(shape.rows * inputs) + 1, kGuard);
    table().round_bf16(x.data(), shape.rows, shape.inputs, rounded.data());
    ASSERT_EQ(rounded.back(), kGuard);
    std::vector<float> y(static_cast<std::size_t>(shape.rows * shape.outputs));
    LinearArguments arguments =
        arguments_of(shape, rounded.data(), packed.data(), bias, y, shape.outputs);
    run(NumberType::BFloat16, arguments, shape.rows);
    auto x_in_bf16 = x, w_in_bf16 = w;
    for (auto* factor : {&x_in_bf16, &w_in_bf16})
      for (float& value : *factor) value = in_bf16(value);
    const Products expected = products(x_in_bf16, w_in_bf16, shape.inputs);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float b = bias[i % static_cast<std::size_t>(shape.outputs)];
      ASSERT_NEAR(y[i], expected.sums[i] + b, 1e-6 * (expected.sizes[i] + std::abs(b)) + 1e-12);
    }
    // The last row alone has the same bits.
    std::vector<float> alone(static_cast<std::size_t>(shape.outputs));
    table().round_bf16(x.data() + (shape.rows - 1) * shape.inputs, 1, shape.inputs, rounded.data());
    arguments.y = alone.data();
    run(NumberType::BFloat16, arguments, 1);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), y.end() - shape.outputs));
  }
}

TEST_P(Linear, AmxAddsBf16InTheOrderOfItsManual) {
  if (!table().name.ends_with("amx")) GTEST_SKIP() << "no tile registers";
  const Shape shape = {19, 96, 70};
  auto x = values(shape.rows * shape.inputs), w = values(shape.outputs * shape.inputs);
  const auto bias = values(table().padded_outputs(shape.outputs));
  std::vector<std::uint16_t> packed(bias.size() * static_cast<std::size_t>(shape.inputs));
  table().pack_bf16(w.data(), shape.outputs, shape.inputs, packed.data());
  std::vector<std::uint16_t> rounded(2 * x.size());
  table().round_bf16(x.data(), shape.rows, shape.inputs, rounded.data());
  std::vector<float> y(static_cast<std::size_t>(shape.rows * shape.outputs));
  run(NumberType::BFloat16,
      arguments_of(shape, rounded.data(), packed.data(), bias, y, shape.outputs), shape.rows);
  for (auto* factor : {&x, &w})
    for (float& value : *factor) value = in_bf16(value);
  for (std::int64_t i = 0; i < shape.rows * shape.outputs; ++i) {
    const float* row = x.data() + i / shape.outputs * shape.inputs;
    const float* output = w.data() + i % shape.outputs * shape.inputs;
    float sum = bias[i % shape.outputs];
    for (std::int64_t step = 0; step < shape.inputs; step += 32) {
      float even = 0, odd = 0;
      for (std::int64_t k = step; k < step + 32; k += 2) {
        even = std::fma(row[k], output[k], even);
        odd = std::fma(row[k + 1], output[k + 1], odd);
      }
      sum += even + odd;
    }
    ASSERT_EQ(y[i], sum) << i;
  }
}

TEST_P(Linear, TheProductInInt8IsExactButForTheScales) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs),
                       inputs = InferenceKernels::padded_inputs(shape.inputs);
    std::vector<std::int8_t> w(static_cast<std::size_t>(shape.outputs * shape.inputs));
    for (auto& weight : w)  // with the largest everywhere now and then: no sum may saturate
      weight =
          static_cast<std::int8_t>(random_.uniform() < 0.3 ? 127 : random_.uniform() * 254 - 127);
    std::vector<std::int8_t> packed(static_cast<std::size_t>(padded * inputs));
    std::vector<std::int32_t> offsets(static_cast<std::size_t>(padded));
    table().pack_int8(w.data(), shape.outputs, shape.inputs, packed.data(), offsets.data());
    std::vector<std::uint8_t> quantized(static_cast<std::size_t>(shape.rows * inputs * 2));
    std::vector<float> x_scales(static_cast<std::size_t>(shape.rows));
    table().quantize(x.data(), shape.rows, shape.inputs, quantized.data(), x_scales.data());
    const auto bias = values(padded), scales = values(padded, 0.1);
    std::vector<float> y(static_cast<std::size_t>(shape.rows * shape.outputs));
    LinearArguments arguments =
        arguments_of(shape, quantized.data(), packed.data(), bias, y, shape.outputs);
    arguments.x_scales = x_scales.data();
    arguments.weight_scales = scales.data();
    arguments.offsets = offsets.data();
    run(NumberType::Int8, arguments, shape.rows);
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      const auto row = reference::quantize(
          {x.data() + r * shape.inputs, static_cast<std::size_t>(shape.inputs)});
      ASSERT_FLOAT_EQ(x_scales[r], row.scale);
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        const std::int64_t sum = std::inner_product(row.whole.begin(), row.whole.end(),
                                                    w.begin() + o * shape.inputs, std::int64_t{0});
        const double expected =
            static_cast<double>(sum) * static_cast<double>(x_scales[r] * scales[o]) +
            static_cast<double>(bias[o]);
        ASSERT_NEAR(y[r * shape.outputs + o], expected, 2e-6 * std::abs(expected) + 1e-6);
      }
    }
  }
}

TEST_P(Linear, NumbersThatAreNotFiniteStaySo) {
  std::vector<float> x(70, 1.0F);
  x[67] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::uint8_t> quantized(2 * 72);
  float scale = 0;
  table().quantize(x.data(), 1, 70, quantized.data(), &scale);
  EXPECT_TRUE(std::isnan(scale));
  x[67] = std::numeric_limits<float>::infinity();
  table().quantize(x.data(), 1, 70, quantized.data(), &scale);
  EXPECT_FALSE(std::isfinite(scale));
  for (const std::int64_t count : {5, 16, 70})
    EXPECT_TRUE(std::isnan(table().exponential_sum(std::vector<float>(70, NAN).data(), count, 0)));
}

TEST_P(Linear, SumsOfExponentialsAreThoseOfTheReference) {
  for (const std::int64_t count : {1, 7, 16, 100, 1001})
    for (const float shift : {-30.0F, 0.0F, 40.0F}) {
      const auto row = values(count, 30);
      EXPECT_NEAR(table().exponential_sum(row.data(), count, shift) /
                      reference::exponential_sum(row, static_cast<double>(shift)),
                  1, 1e-5);
      EXPECT_EQ(table().largest(row.data(), count), *std::max_element(row.begin(), row.end()));
    }
  std::vector<float> row(40, 0.0F);
  row[33] = 200;
  EXPECT_FALSE(table().exponential_sum(row.data(), 40, 0) < 0x1p100F);
  EXPECT_NEAR(table().exponential_sum(row.data(), 40, 200), 1, 1e-5);
}

TEST_P(Linear, TheBestOfARowAreThoseOfTheReference) {
  for (const std::int64_t count : {1, 7, 16, 100, 1001})
    for (const std::int64_t best : {1, 4, 9, 30}) {
      auto row = values(count, 9);
      for (float& value : row) value = std::round(value);  // with equal ones
      const std::int64_t asked = std::min(best, count);
      const std::vector<std::int32_t> order = reference::best(row, asked);
      std::vector<std::int32_t> indices(order.size());
      std::vector<float> found(static_cast<std::size_t>(asked));
      const std::int64_t first = count / 3;  // in two parts
      table().best({row.data(), first, 0, asked, indices.data(), found.data()});
      table().best({row.data() + first, count - first, first, asked, indices.data(), found.data()});
      EXPECT_EQ(indices, order);
      for (std::int64_t i = 0; i < asked; ++i) EXPECT_EQ(found[i], row[order[i]]);
    }
}

TEST_P(Linear, PackedWeightsCanBeReadAgain) {
  constexpr std::int64_t kOutputs = 70, kInputs = 21;
  const std::int64_t room =
      table().padded_outputs(kOutputs) * InferenceKernels::padded_inputs(kInputs);
  std::vector<float> w(kOutputs * kInputs), floats(room);
  std::vector<std::int8_t> whole(kOutputs * kInputs), bytes(room);
  for (std::size_t i = 0; i < w.size(); ++i) {
    whole[i] = static_cast<std::int8_t>(random_.uniform() * 254 - 127);
    w[i] = whole[i];  // which bf16 has, too
  }
  std::vector<std::uint16_t> halves(room);
  std::vector<std::int32_t> offsets(table().padded_outputs(kOutputs));
  table().pack_float(w.data(), kOutputs, kInputs, floats.data());
  table().pack_bf16(w.data(), kOutputs, kInputs, halves.data());
  table().pack_int8(whole.data(), kOutputs, kInputs, bytes.data(), offsets.data());
  const void* const packed[] = {floats.data(), halves.data(), bytes.data()};
  for (std::size_t type = 0; type < kNumberTypes; ++type)
    for (const std::int64_t output : {0, 1, 17, 69}) {
      std::vector<float> y(kInputs + 1, 1.0F);
      table().add_weights[type](packed[type], kInputs, output, 2, y.data());
      for (std::int64_t k = 0; k < kInputs; ++k) EXPECT_EQ(y[k], 1 + 2 * w[output * kInputs + k]);
      EXPECT_EQ(y[kInputs], 1);
    }
}

DRAGOMAN_FOR_EACH_INFERENCE_TABLE(Linear);

// Activations

class ActivationKernel : public InferenceKernelsTest {
 protected:
  typedef void (*Kernel)(const ActivationArguments&);
  typedef double (*Formula)(double);

  /// The largest error relative to the formula, over results that fp32 represents well.
  static double worst_error(Kernel kernel, Formula formula, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    const auto columns = static_cast<std::int64_t>(x.size());
    kernel({.x = x.data(),
            .gate = nullptr,
            .y = y.data(),
            .rows = 1,
            .columns = columns,
            .x_stride = columns});
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = formula(x[i]);
      EXPECT_NEAR(y[i], expected, 1e-30 + 1e-4 * std::abs(expected)) << x[i];
      if (std::abs(expected) > 1e-30)
        worst =
            std::max(worst, std::abs(static_cast<double>(y[i]) - expected) / std::abs(expected));
    }
    return worst;
  }

  /// [rows, 2 * columns] with the gate after x, to y between guards.
  static void expect_rows(Kernel kernel, Formula formula, std::int64_t columns,
                          const std::vector<float>& x) {
    const auto rows = static_cast<std::int64_t>(x.size()) / (2 * columns);
    for (const bool gated : {false, true}) {
      std::vector<float> y(static_cast<std::size_t>(rows * columns) + 1, 99);
      kernel({.x = x.data(),
              .gate = gated ? x.data() + columns : nullptr,
              .y = y.data(),
              .rows = rows,
              .columns = columns,
              .x_stride = 2 * columns});
      EXPECT_EQ(y.back(), 99);
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const float* at = x.data() + i / columns * 2 * columns + i % columns;
        const double expected = gated ? formula(at[columns]) * at[0] : formula(at[0]);
        EXPECT_NEAR(y[i], expected, 2e-6 * std::abs(expected) + 1e-12) << i;
      }
    }
  }
};

TEST_P(ActivationKernel, TheKernelIsTheFormula) {
  std::vector<float> x = {0};
  for (float size = 1e-6F; size < 40; size *= 1.001F) x.insert(x.end(), {size, -size});
  // Half a unit of x^2 / 2 in the exponent is what gelu loses.
  const auto near = [](float value) { return std::abs(value) > 4; };
  EXPECT_LT(worst_error(table().swish, reference::swish, x), 5e-7);
  EXPECT_LT(worst_error(table().gelu, reference::gelu, x), 1e-5);
  std::erase_if(x, near);
  EXPECT_LT(worst_error(table().gelu, reference::gelu, x), 2e-6);
}

TEST_P(ActivationKernel, AnActivationMayBeGatedAndOfAnyWidth) {
  for (const std::int64_t columns : {1, 3, 15, 16, 17, 64, 65}) {
    const std::vector<float> x = values(3 * 2 * columns, 4);
    expect_rows(table().gelu, reference::gelu, columns, x);
    expect_rows(table().swish, reference::swish, columns, x);
  }
}

TEST_P(ActivationKernel, NanGivesNan) {
  const std::vector<float> x(17, NAN);
  std::vector<float> y(17);
  for (const Kernel kernel : {table().gelu, table().swish}) {
    kernel(
        {.x = x.data(), .gate = nullptr, .y = y.data(), .rows = 1, .columns = 17, .x_stride = 17});
    for (const float value : y) EXPECT_TRUE(std::isnan(value));
  }
}

DRAGOMAN_FOR_EACH_INFERENCE_TABLE(ActivationKernel);

}  // namespace
}  // namespace dragoman
