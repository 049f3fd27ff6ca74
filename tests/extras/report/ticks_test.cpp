#include "extras/report/ticks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dragoman {
namespace {

TEST(Ticks, TicksAreRoundAndCoverTheRange) {
  for (const double low : {-3.0, 0.0, 0.31, 7.0})
    for (const double width : {1e-5, 0.037, 1.0, 2.5, 99.0, 12'345.0, 3e9})
      for (const int count : {3, 5, 8}) {
        const Ticks ticks = round_ticks(low, low + width, count);
        const double digit = ticks.step / std::pow(10, std::floor(std::log10(ticks.step) + 1e-9));
        EXPECT_TRUE(std::abs(digit - 1) < 1e-6 || std::abs(digit - 2) < 1e-6 ||
                    std::abs(digit - 5) < 1e-6)
            << ticks.step;
        ASSERT_GE(ticks.at.size(), 1u) << low << " " << width;
        EXPECT_LE(ticks.at.size(), static_cast<std::size_t>(count) + 1);
        EXPECT_GE(ticks.at.front(), low - width * 1e-6);
        EXPECT_LT(ticks.at.front() - low, ticks.step);
        EXPECT_LE(ticks.at.back(), low + width * (1 + 1e-6));
        EXPECT_LT(low + width - ticks.at.back(), ticks.step * (1 + 1e-6));
      }
}

TEST(Ticks, TicksAreFewWhereOneMoreChangesNothing) {
  EXPECT_LE(round_ticks(1e17, 1e17 + 64, 5).at.size(), 51u);
  EXPECT_EQ(tick_text(2.5e20, 5e19), "2.5e+20");
}

TEST(Ticks, TicksAreWrittenWithTheDecimalsOfTheirStep) {
  EXPECT_EQ(tick_text(1500, 500), "1,500");
  EXPECT_EQ(tick_text(0.5, 0.25), "0.5");
  EXPECT_EQ(tick_text(2, 0.05), "2.00");
  EXPECT_EQ(tick_text(5e-4, 1e-4), "5e-4");
  EXPECT_EQ(tick_text(1.2e-3, 2e-4), "1.2e-3");
  EXPECT_EQ(tick_text(0, 1e-4), "0");
  EXPECT_EQ(tick_text(round_ticks(-0.03, 1, 5).at.front(), 0.5), "0.0");  // not -0.0
}

}  // namespace
}  // namespace dragoman
