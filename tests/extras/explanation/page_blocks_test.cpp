#include "extras/explanation/page_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dragoman {
namespace {

using Json = nlohmann::ordered_json;

const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The whole numbers of a block's text, in so many digits each.
std::vector<std::int64_t> numbers_of(const Json& block, std::size_t digits) {
  const std::string text = block["data"];
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin < text.size(); begin += digits) {
    std::int64_t number = 0, middle = 1;
    for (const char digit : text.substr(begin, digits)) {
      number = number * 64 + static_cast<std::int64_t>(kDigits.find(digit));
      middle *= 64;
    }
    numbers.push_back(number - middle / 2);
  }
  return numbers;
}

TEST(StripsBlock, EachNumberHasADigitAndEachVectorAScale) {
  const Json block = strips_block(std::vector<float>{31, -15.4F, 0, 0, 2, -2}, 2);
  EXPECT_EQ(block["shape"], Json({3, 2}));
  EXPECT_EQ(numbers_of(block, 1), (std::vector<std::int64_t>{31, -15, 0, 0, 31, -31}));
  EXPECT_NEAR(block["scales"][0].get<double>(), 1, 1e-4);
  EXPECT_EQ(block["scales"][1], 0);
  EXPECT_NEAR(block["scales"][2].get<double>(), 2.0 / 31, 1e-5);
}

TEST(ScoresBlock, EachHeadHasAScaleAndNumbersToAHundredThousandth) {
  const std::vector<double> scores = {3.14159, -2.71828, 0.00007, 1, 1e-3, -4e-3, 2e-3, 3e-3};
  const Json block = scores_block(
      {.heads = 2, .queries = 2, .keys = 2, .mask = KeyMask::None, .values = {}, .scores = scores});
  EXPECT_EQ(block["shape"], Json({2, 2, 2}));
  EXPECT_EQ(block["causal"], false);
  const std::vector<std::int64_t> numbers = numbers_of(block, 3);
  ASSERT_EQ(numbers.size(), scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto scale = block["scales"][i / 4].get<double>();
    EXPECT_NEAR(static_cast<double>(numbers[i]) * scale, scores[i], (i < 4 ? 1.3e-5 : 1.6e-8));
  }
}

TEST(ScoresBlock, MaskedKeysHaveNoScores) {
  const Json block = scores_block({.heads = 1,
                                   .queries = 2,
                                   .keys = 2,
                                   .mask = KeyMask::Causal,
                                   .values = {},
                                   .scores = {0, -1, 1}});
  EXPECT_EQ(block["causal"], true);
  EXPECT_EQ(numbers_of(block, 3).size(), 3u);
}

}  // namespace
}  // namespace dragoman
