#include "explanation/number_blocks.h"

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
  const nlohmann::ordered_json block =
      weights_block({.heads = 1, .queries = 2, .keys = 2, .values = {1, 0, 0, 1}});
  EXPECT_EQ(block["shape"], nlohmann::json({1, 2, 2}));
  EXPECT_EQ(block["data"], "//8AAAAA//8=");  // FF FF 00 00 00 00 FF FF
}

TEST(VectorsBlock, EachVectorHasAScale) {
  const nlohmann::ordered_json block =
      vectors_block(std::vector<float>{127, -63.5F, 0, 0, 2, -2}, 2, VectorBits::Eight);
  EXPECT_EQ(block["shape"], nlohmann::json({3, 2}));
  EXPECT_EQ(block["bits"], 8);
  EXPECT_NEAR(block["scales"][0].get<double>(), 1, 1e-4);
  EXPECT_EQ(block["scales"][1], 0);  // a vector of zeros
  EXPECT_NEAR(block["scales"][2].get<double>(), 2.0 / 127, 1e-6);
  EXPECT_EQ(block["data"], "f8EAAH+B");  // 127 -63 0 0 127 -127
}

TEST(VectorsBlock, TwoNumbersOfTwelveBitsAreThreeBytes) {
  const std::vector<float> vector = {3.14159F, -2.71828F, 0.001F};
  const nlohmann::ordered_json block = vectors_block(vector, 3, VectorBits::Twelve);
  EXPECT_NEAR(block["scales"][0].get<double>(), 3.14159 / 2047, 1e-7);
  EXPECT_EQ(block["bits"], 12);
  EXPECT_EQ(block["data"], "/1eRAQAA");  // 7FF 915 001 000: FF 57 91 01 00 00
}

}  // namespace
}  // namespace dragoman
