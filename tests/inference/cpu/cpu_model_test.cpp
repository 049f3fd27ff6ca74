#include "inference/cpu/cpu_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/file/model_file.h"
#include "tests/inference/cpu/random_values.h"

namespace dragoman {
namespace {

constexpr ComputeType kTypes[] = {ComputeType::Float32, ComputeType::BFloat16, ComputeType::Int8};

/// A layer, its rows of x, and x W^T + b in plain loops.
struct Example {
  std::int64_t rows, inputs, outputs;
  std::vector<float> weights = random_values(outputs * inputs, 1), bias = random_values(outputs, 2),
                     x = random_values(rows * inputs, 3);

  PackedLinear packed(ComputeType type) const { return {weights, bias, inputs, type}; }
  std::vector<double> plain() const {
    std::vector<double> y;
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t o = 0; o < outputs; ++o) {
        double sum = bias[static_cast<std::size_t>(o)];
        for (std::int64_t i = 0; i < inputs; ++i)
          sum += static_cast<double>(x[static_cast<std::size_t>(r * inputs + i)]) *
                 weights[static_cast<std::size_t>(o * inputs + i)];
        y.push_back(sum);
      }
    return y;
  }
};

std::vector<float> run(const PackedLinear& layer, const std::vector<float>& x,
                       HelperTeam* helpers = nullptr, bool relu = false) {
  const std::int64_t rows = static_cast<std::int64_t>(x.size()) / layer.inputs();
  std::vector<float> y(static_cast<std::size_t>(rows * layer.outputs()));
  LinearScratch scratch{.rounded = {}, .scales = {}, .helpers = helpers};
  layer.run(x.data(), rows, y.data(), scratch, relu);
  return y;
}

/// The tolerance of sums of `inputs` products whose factors are rounded.
double tolerance(ComputeType type, std::int64_t inputs) {
  const double of_product = type == ComputeType::Float32    ? 1e-6
                            : type == ComputeType::BFloat16 ? 0x1p-8
                                                            : 1.0 / 127;
  return 2 * of_product * std::sqrt(static_cast<double>(inputs));
}

TEST(PackedLinear, TheOutputIsTheProductWithBiasAndRelu) {
  for (const Example& e : {Example{1, 1, 1}, {2, 37, 101}, {17, 64, 256}, {5, 130, 63}}) {
    const auto expected = e.plain();
    for (const ComputeType type : kTypes) {
      const PackedLinear layer = e.packed(type);
      EXPECT_EQ(layer.inputs(), e.inputs);
      EXPECT_EQ(layer.outputs(), e.outputs);
      const auto y = run(layer, e.x), rectified = run(layer, e.x, nullptr, true);
      for (std::size_t i = 0; i < y.size(); ++i) {
        EXPECT_NEAR(y[i], expected[i], tolerance(type, e.inputs));
        EXPECT_EQ(rectified[i], std::max(y[i], 0.0F));
      }
    }
  }
}

TEST(PackedLinear, WithoutABiasZerosAreAdded) {
  const Example e{2, 37, 101};
  const std::vector<float> zeros(e.bias.size());
  for (const ComputeType type : kTypes)
    EXPECT_EQ(run(PackedLinear(e.weights, {}, e.inputs, type), e.x),
              run(PackedLinear(e.weights, zeros, e.inputs, type), e.x));
}

TEST(PackedLinear, WeightsMayBeRoundedAlready) {
  const Example e{3, 37, 101};
  const QuantizedRows rounded = quantize_rows(e.weights, e.inputs);
  EXPECT_EQ(run(PackedLinear(rounded.whole, rounded.scales, e.bias, e.inputs), e.x),
            run(e.packed(ComputeType::Int8), e.x));
}

TEST(PackedLinear, ARowHasTheSameBitsBesideAnyOthers) {
  const Example e{17, 64, 256};
  for (const ComputeType type : kTypes) {
    const PackedLinear layer = e.packed(type);
    const auto together = run(layer, e.x);
    for (std::int64_t r = 0; r < e.rows; ++r) {
      const auto alone = run(layer, {e.x.begin() + r * e.inputs, e.x.begin() + (r + 1) * e.inputs});
      EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + r * e.outputs));
    }
  }
}

TEST(PackedLinear, PartsHaveTheBitsOfTheWhole) {
  const Example e{3, 64, 333};
  for (const ComputeType type : kTypes) {
    const PackedLinear layer = e.packed(type);
    const auto whole = run(layer, e.x);
    constexpr std::int64_t kStep = 2 * PackedLinear::kChunkStep;
    std::vector<float> part(static_cast<std::size_t>(e.rows * kStep));
    LinearScratch scratch;
    std::int64_t met = 0;
    layer.run_in_chunks(
        {.x = e.x.data(), .count = e.rows, .y = part.data()}, kStep, scratch,
        [&](std::int64_t begin, std::int64_t end, const float* y) {
          EXPECT_EQ(begin, met);
          for (std::int64_t r = 0; r < e.rows; ++r)
            EXPECT_TRUE(std::equal(y + r * (end - begin), y + (r + 1) * (end - begin),
                                   whole.begin() + r * e.outputs + begin));
          met = end;
        });
    EXPECT_EQ(met, e.outputs);
  }
}

TEST(PackedLinear, HelpersChangeNoBit) {
  const Example e{2, 512, 2100};  // enough weights for helpers, in every type
  HelperTeam helpers(2);
  for (const ComputeType type : kTypes) {
    const PackedLinear layer = e.packed(type);
    const auto alone = run(layer, e.x);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(run(layer, e.x, &helpers), alone);
  }
}

TEST(PackedLinear, TheWeightsOfAnOutputCanBeAdded) {
  const Example e{1, 37, 101};
  for (const ComputeType type : kTypes) {
    const PackedLinear layer = e.packed(type);
    for (const std::int64_t output : {0, 64, 100}) {
      std::vector<float> y(static_cast<std::size_t>(e.inputs), 3);
      layer.add_weights(output, 0.5F, y.data());
      for (std::int64_t i = 0; i < e.inputs; ++i)
        EXPECT_NEAR(y[static_cast<std::size_t>(i)],
                    3 + 0.5 * e.weights[static_cast<std::size_t>(output * e.inputs + i)],
                    tolerance(type, 1));
    }
  }
}

}  // namespace
}  // namespace dragoman
