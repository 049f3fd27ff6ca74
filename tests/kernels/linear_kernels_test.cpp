#include "kernels/linear_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/kernels/kernel_test.h"

namespace dragoman {
namespace {

constexpr float kGuard = 12345;

struct Shape {
  std::int64_t rows, inputs, outputs;
};
const std::vector<Shape> kShapes = {{1, 1, 1},    {2, 3, 5},   {3, 64, 64},   {5, 17, 65},
                                    {6, 130, 31}, {7, 8, 200}, {13, 96, 129}, {16, 33, 48}};

class Linear : public testing::TestWithParam<const LinearKernels*> {
 protected:
  const LinearKernels& table() const { return *GetParam(); }

  std::vector<float> values(std::int64_t count, double range = 2) {
    std::vector<float> list(static_cast<std::size_t>(count));
    for (float& value : list) value = static_cast<float>((random_.uniform() * 2 - 1) * range);
    return list;
  }

  /// Of `y_stride` outputs a row; what only int8 has is missing.
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

  /// y of `rows` rows with guards behind each.
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

  RandomStream random_{1, 2};
};

TEST_P(Linear, FloatIsTheProductAndEachRowTheSameAlone) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs), w = values(shape.outputs * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs);
    auto bias = values(padded);
    std::vector<float> packed(static_cast<std::size_t>(padded * shape.inputs));
    table().pack_float(w.data(), shape.outputs, shape.inputs, packed.data());
    for (const bool relu : {false, true}) {
      const auto y = run_float(shape, x, packed, bias, relu);
      const std::int64_t stride = shape.outputs + 3;
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        for (std::int64_t o = 0; o < shape.outputs; ++o) {
          double expected = bias[o], size = std::abs(bias[o]);
          for (std::int64_t k = 0; k < shape.inputs; ++k) {
            const double product = static_cast<double>(x[r * shape.inputs + k]) *
                                   static_cast<double>(w[o * shape.inputs + k]);
            expected += product, size += std::abs(product);
          }
          if (relu) expected = std::max(expected, 0.0);
          ASSERT_NEAR(y[r * stride + o], expected, 1e-6 * size + 1e-12)
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

TEST_P(Linear, Bf16IsTheProductOfRoundedNumbers) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs), w = values(shape.outputs * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs),
                       inputs = LinearKernels::padded_inputs(shape.inputs);
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
    for (std::int64_t r = 0; r < shape.rows; ++r)
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        double expected = bias[o], size = std::abs(bias[o]);
        for (std::int64_t k = 0; k < shape.inputs; ++k) {
          const double product = static_cast<double>(in_bf16(x[r * shape.inputs + k])) *
                                 static_cast<double>(in_bf16(w[o * shape.inputs + k]));
          expected += product, size += std::abs(product);
        }
        ASSERT_NEAR(y[r * shape.outputs + o], expected, 1e-6 * size + 1e-12);
      }
    // The last row alone, the same bits.
    std::vector<float> alone(static_cast<std::size_t>(shape.outputs));
    table().round_bf16(x.data() + (shape.rows - 1) * shape.inputs, 1, shape.inputs, rounded.data());
    arguments.y = alone.data();
    run(NumberType::BFloat16, arguments, 1);
    ASSERT_TRUE(std::equal(alone.begin(), alone.end(), y.end() - shape.outputs));
  }
}

TEST_P(Linear, Int8IsExactButForTheScales) {
  for (const Shape& shape : kShapes) {
    const auto x = values(shape.rows * shape.inputs);
    const std::int64_t padded = table().padded_outputs(shape.outputs),
                       inputs = LinearKernels::padded_inputs(shape.inputs);
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
      float largest = 0;
      for (std::int64_t k = 0; k < shape.inputs; ++k)
        largest = std::max(largest, std::abs(x[r * shape.inputs + k]));
      ASSERT_FLOAT_EQ(x_scales[r], largest / 127);
      for (std::int64_t o = 0; o < shape.outputs; ++o) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < shape.inputs; ++k)
          sum += std::lrint(x[r * shape.inputs + k] * (127 / largest)) * w[o * shape.inputs + k];
        const double expected =
            static_cast<double>(sum) * static_cast<double>(x_scales[r] * scales[o]) +
            static_cast<double>(bias[o]);
        ASSERT_NEAR(y[r * shape.outputs + o], expected, 2e-6 * std::abs(expected) + 1e-6);
      }
    }
  }
}

TEST_P(Linear, WhatIsNotFiniteStaysSo) {
  std::vector<float> x(70, 1.0F);
  x[67] = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::uint8_t> quantized(2 * 72);
  float scale = 0;
  table().quantize(x.data(), 1, 70, quantized.data(), &scale);
  EXPECT_TRUE(std::isnan(scale));
  x[67] = std::numeric_limits<float>::infinity();
  table().quantize(x.data(), 1, 70, quantized.data(), &scale);
  EXPECT_FALSE(std::isfinite(scale));
  EXPECT_TRUE(std::isnan(table().log_sum(std::vector<float>(5, NAN).data(), 5)));
}

/// Numbers of heads in HeadOrder, zero where it pads.
std::vector<float> in_order(const HeadOrder& order, const std::vector<float>& plain,
                            std::int64_t begin) {
  std::vector<float> ordered(static_cast<std::size_t>(order.width));
  for (std::int64_t h = 0; h < order.heads; ++h)
    for (std::int64_t c = 0; c < order.d_k; ++c)
      ordered[order.place(h, c)] = plain[begin + h * order.d_k + c];
  return ordered;
}

/// A query, and keys and values of places side by side: [heads * d_k] each, head after head.
struct Attention {
  const HeadOrder& order;
  std::vector<float> q, keys, values;
  float scale;

  std::int64_t width() const { return order.heads * order.d_k; }
};

/// Weights and output of a row are equation 1's, but for what `type` rounds.
void expect_equation_1(const Attention& a, const std::vector<std::int64_t>& records,
                       NumberType type, const std::vector<float>& weights,
                       const std::vector<float>& output) {
  const std::int64_t d_k = a.order.d_k;
  const std::size_t places = records.size();
  // A product of bytes is off by half a step of each of its factors at most, one of bf16 by half a
  // step of the key.
  const double step = type == NumberType::Int8       ? 3.5 * 0.5 / 100
                      : type == NumberType::BFloat16 ? 2 * 1.5 / 256
                                                     : 0;
  const double error = static_cast<double>(a.scale * static_cast<float>(d_k)) * step;
  const double off = type == NumberType::Int8       ? 1.5 / 254 + 1e-5
                     : type == NumberType::BFloat16 ? 1.5 / 256
                                                    : 1e-5;
  for (std::int64_t h = 0; h < a.order.heads; ++h) {
    const auto weight = [&](std::size_t j) {
      return weights[static_cast<std::int64_t>(j) * a.order.weights_stride() + h];
    };
    const auto at = [&](const std::vector<float>& list, std::size_t j, std::int64_t c) {
      return list[records[j] * a.width() + h * d_k + c];
    };
    std::vector<double> p;
    for (std::size_t j = 0; j < places; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < d_k; ++c) score += a.q[h * d_k + c] * at(a.keys, j, c);
      p.push_back(std::exp(static_cast<double>(a.scale) * score));
    }
    const double total = std::accumulate(p.begin(), p.end(), 0.0);
    for (std::size_t j = 0; j < places; ++j)
      ASSERT_NEAR(weight(j), p[j] / total, 1e-5 + 2 * error * p[j] / total * std::exp(2 * error));
    for (std::int64_t c = 0; c < d_k; ++c) {
      double expected = 0;
      for (std::size_t j = 0; j < places; ++j)
        expected += static_cast<double>(weight(j)) * static_cast<double>(at(a.values, j, c));
      ASSERT_NEAR(output[a.order.place(h, c)], expected, off);
    }
  }
}

void expect_attention(const LinearKernels& table, const Attention& a,
                      const std::vector<std::int64_t>& records, bool side_by_side,
                      NumberType type) {
  const auto kind = static_cast<std::size_t>(type);
  const auto places = static_cast<std::int64_t>(records.size());
  const std::int64_t bytes = a.order.record_bytes(type);
  const auto count = static_cast<std::int64_t>(a.keys.size()) / a.width();
  std::vector<std::uint8_t> cache(static_cast<std::size_t>(count * bytes));
  for (std::int64_t record = 0; record < count; ++record)
    table.store_record[kind](a.order, in_order(a.order, a.keys, record * a.width()).data(),
                             in_order(a.order, a.values, record * a.width()).data(),
                             cache.data() + record * bytes);
  const std::vector<std::int32_t> numbers(records.begin(), records.end());
  std::vector<float> scratch(static_cast<std::size_t>(a.order.scratch(places)) + 1),
      output(static_cast<std::size_t>(a.order.width) + 1, kGuard);
  scratch.back() = kGuard;
  table.row_attention[kind]({.order = a.order,
                             .q = in_order(a.order, a.q, 0).data(),
                             .cache = cache.data(),
                             .records = side_by_side ? nullptr : numbers.data(),
                             .places = places,
                             .scale = a.scale,
                             .scratch = scratch.data(),
                             .output = output.data()});
  ASSERT_EQ(output.back(), kGuard);
  ASSERT_EQ(scratch.back(), kGuard);
  expect_equation_1(a, records, type, scratch, output);
}

TEST_P(Linear, AttentionOfARowIsEquation1OverItsRecords) {
  constexpr std::int64_t kRecords = 50;
  for (const std::int64_t heads : {1, 2, 3, 4, 8, 12, 16, 40})
    for (const std::int64_t d_k : {1, 8, 24, 64}) {
      const HeadOrder order(heads, d_k);
      ASSERT_EQ(order.width % 64, 0);
      for (const std::int64_t places : {1, 5, 16, 37}) {
        const std::int64_t numbers = kRecords * heads * d_k;
        const Attention attention{.order = order,
                                  .q = values(heads * d_k),
                                  .keys = values(numbers, 1.5),
                                  .values = values(numbers, 1.5),
                                  .scale = 0.3F};
        std::vector<std::int64_t> in_turn(static_cast<std::size_t>(places)), drawn = in_turn;
        std::iota(in_turn.begin(), in_turn.end(), 0);
        for (auto& record : drawn) record = static_cast<std::int64_t>(random_.uniform() * kRecords);
        for (const NumberType type :
             {NumberType::Float32, NumberType::BFloat16, NumberType::Int8}) {
          expect_attention(table(), attention, drawn, false, type);
          expect_attention(table(), attention, in_turn, true, type);
          if (HasFatalFailure()) return;
        }
      }
    }
}

TEST_P(Linear, AttentionOfARowToBytesIsExactWhereBytesAre) {
  const HeadOrder order(3, 10);
  // Whole numbers, the largest of each head 127: nothing is rounded.
  const auto whole = [&] {
    std::vector<float> numbers(30);
    for (float& number : numbers)
      number = static_cast<float>(std::floor(random_.uniform() * 254 - 127));
    for (std::size_t h = 0; h < 3; ++h) numbers[h * 10 + 3] = h == 1 ? -127 : 127;
    return in_order(order, numbers, 0);
  };
  std::vector<std::uint8_t> bytes, floats;
  for (int place = 0; place < 9; ++place) {
    const auto key = whole(), value = whole();
    bytes.resize(bytes.size() + static_cast<std::size_t>(order.record_bytes(NumberType::Int8)));
    floats.resize(floats.size() +
                  static_cast<std::size_t>(order.record_bytes(NumberType::Float32)));
    table().store_record[2](order, key.data(), value.data(),
                            bytes.data() + place * order.record_bytes(NumberType::Int8));
    table().store_record[0](order, key.data(), value.data(),
                            floats.data() + place * order.record_bytes(NumberType::Float32));
  }
  const auto q = whole();
  std::vector<float> scratch(static_cast<std::size_t>(order.scratch(9))), output(order.width),
      expected(order.width);
  RowAttentionArguments arguments{.order = order,
                                  .q = q.data(),
                                  .cache = bytes.data(),
                                  .records = nullptr,
                                  .places = 9,
                                  .scale = 1e-4F,
                                  .scratch = scratch.data(),
                                  .output = output.data()};
  table().row_attention[2](arguments);
  arguments.cache = floats.data();
  arguments.output = expected.data();
  table().row_attention[0](arguments);
  for (std::int64_t i = 0; i < order.width; ++i) ASSERT_NEAR(output[i], expected[i], 1e-3) << i;
}

TEST_P(Linear, TheBestOfARowAndItsLogSum) {
  for (const std::int64_t count : {1, 7, 16, 100, 1001})
    for (const std::int64_t best : {1, 4, 9}) {
      auto row = values(count, 9);
      for (float& value : row) value = std::round(value);  // with equal ones
      double sum = 0;
      for (const float value : row) sum += std::exp(static_cast<double>(value));
      EXPECT_NEAR(table().log_sum(row.data(), count), std::log(sum), 1e-5);
      const std::int64_t asked = std::min(best, count);
      std::vector<std::int32_t> order(static_cast<std::size_t>(count)), indices(asked);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
      order.resize(static_cast<std::size_t>(asked));
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
      table().padded_outputs(kOutputs) * LinearKernels::padded_inputs(kInputs);
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

INSTANTIATE_TEST_SUITE_P(Tables, Linear, testing::ValuesIn(available_linear_tables()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace dragoman
