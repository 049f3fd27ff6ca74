#include "extras/explanation/number_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(WholeWeights, WeightsOfEveryRowSumToTheWholeAndKeepTheirZeros) {
  RandomStream random(4);
  for (int row = 0; row < 200; ++row) {
    std::vector<float> weights(1 + random.below(40));
    float sum = 0;
    for (float& weight : weights) {
      weight = random.chance(0.3) ? 0.0F : static_cast<float>(random.below(1000)) + 1;
      sum += weight;
    }
    if (sum == 0) continue;
    for (float& weight : weights) weight /= sum;
    const std::vector<std::uint16_t> numbers = whole_weights(weights);
    EXPECT_EQ(std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0}), kWholeRow);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_NEAR(numbers[i] / 65535.0, weights[i], 2e-5);
      if (weights[i] == 0) {
        EXPECT_EQ(numbers[i], 0);
      }
    }
  }
}

TEST(WholeWeights, TheWeightOfOneKeyIsTheWhole) {
  EXPECT_THAT(whole_weights(std::vector{1.0F}), ElementsAre(65535));
}

TEST(WeightsBlock, ABlockHasLittleEndianNumbersInBase64) {
  const nlohmann::ordered_json block = weights_block({.heads = 1,
                                                      .queries = 2,
                                                      .keys = 2,
                                                      .mask = KeyMask::None,
                                                      .values = {1, 0, 0, 1},
                                                      .scores = {}});
  EXPECT_EQ(block["shape"], nlohmann::json({1, 2, 2}));
  EXPECT_EQ(block["data"], "//8AAAAA//8=");  // FF FF 00 00 00 00 FF FF
}

TEST(NumberRows, NumbersHaveFiveDigitsAndStandInRows) {
  EXPECT_EQ(number_rows(std::vector{1.0F / 3, -2.0F, 1e-6F / 3, 123456.0F}, 2).dump(),
            "[[0.33333,-2.0],[3.3333e-07,123460.0]]");
  const AttentionWeights weights{.heads = 2,
                                 .queries = 1,
                                 .keys = 2,
                                 .mask = KeyMask::None,
                                 .values = {0.25F, 0.75F, 1, 0},
                                 .scores = {}};
  EXPECT_EQ(weights_of_heads(weights).dump(), "[[[0.25,0.75]],[[1.0,0.0]]]");
}

/// The number of the bits, by the standard's definition.
double number_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(HalfOf, EveryHalfIsItself) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00) continue;  // no number
    EXPECT_EQ(half_of(static_cast<float>(number_of(half))), half);
  }
}

TEST(HalfOf, NoOtherHalfIsNearer) {
  RandomStream random(5);
  for (int i = 0; i < 2000; ++i) {
    const float value = std::ldexp(static_cast<float>(2 * random.uniform() - 1),
                                   static_cast<int>(random.below(40)) - 24);
    const std::uint16_t half = half_of(value);
    const double error = std::abs(number_of(half) - static_cast<double>(value));
    for (const int other : {half - 1, half + 1})
      if ((other & 0x7C00) != 0x7C00 && (other & 0x8000) == (half & 0x8000)) {
        EXPECT_LE(error, std::abs(number_of(static_cast<std::uint16_t>(other)) -
                                  static_cast<double>(value)));
      }
  }
}

TEST(HalfOf, NoHalfIsBeyondTheLargest) {
  EXPECT_EQ(number_of(half_of(1e6F)), 65504);
  EXPECT_EQ(number_of(half_of(-65519)), -65504);
}

TEST(VectorsBlock, ABlockHasHalvesInBase64) {
  const nlohmann::ordered_json block = vectors_block(std::vector<float>{1, -2, 0, 0.5F}, 2);
  EXPECT_EQ(block["shape"], nlohmann::json({2, 2}));
  EXPECT_EQ(block["data"], "ADwAwAAAADg=");  // 3C00 C000 0000 3800
}

}  // namespace
}  // namespace dragoman
