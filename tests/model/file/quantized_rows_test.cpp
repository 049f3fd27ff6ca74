#include "model/file/quantized_rows.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dragoman {
namespace {

TEST(QuantizedRows, RoundedNumbersAreWithinHalfAScaleAndReachTheLargest) {
  std::vector<float> values;
  for (int i = 0; i < 60; ++i)
    values.push_back(std::sin(static_cast<float>(i * i)) * (i < 20 ? 3 : 0.01F));
  for (int i = 40; i < 60; ++i) values[static_cast<std::size_t>(i)] = 0;
  const QuantizedRows rows = quantize_rows(values, 20);
  ASSERT_EQ(rows.scales.size(), 3U);
  for (std::size_t row = 0; row < 3; ++row) {
    int largest = 0;
    for (std::size_t i = row * 20; i < row * 20 + 20; ++i) {
      largest = std::max(largest, std::abs(int{rows.whole[i]}));
      EXPECT_NEAR(static_cast<float>(rows.whole[i]) * rows.scales[row], values[i],
                  0.5001F * rows.scales[row]);
    }
    EXPECT_EQ(largest, row < 2 ? 127 : 0);
  }
}

}  // namespace
}  // namespace dragoman
