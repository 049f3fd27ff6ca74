#include "extras/report/line_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(Ticks, TicksAreFewIfOneMoreChangesNothing) {
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

LineChart chart_of(std::vector<ChartPoint> points) {
  return {.label = "BLEU",
          .x = {.name = "by-updates", .title = "updates", .low = 0, .high = 100, .unit = 1},
          .y_range = YRange::FromZero,
          .curves = {{.run = 2, .points = std::move(points)}}};
}

/// The four numbers of an attribute, or as many as there are.
std::vector<double> numbers(const std::string& svg, const std::string& attribute) {
  std::vector<double> found;
  const char* at = svg.c_str() + svg.find(attribute + "=\"") + attribute.size() + 2;
  for (int length = 0, read = 0; *at != '"'; at += length) {
    found.push_back(0);
    read = std::sscanf(at, "%lf%n", &found.back(), &length);
    if (read != 1) return {};
    while (at[length] == ' ') ++length;
  }
  return found;
}

TEST(LineChart, PointsLieWhereTheRangesSay) {
  const std::string svg = to_svg(chart_of({{0, 0}, {50, 30}, {100, 10}}));
  const auto x = numbers(svg, "data-x"), y = numbers(svg, "data-y"),
             area = numbers(svg, "data-area");
  ASSERT_EQ(area.size(), 4u);
  EXPECT_EQ(x, (std::vector<double>{0, 100}));
  EXPECT_EQ(y[0], 0);
  EXPECT_GE(y[1], 30);
  double column = 0, row = 0;
  const std::size_t curve = svg.find("class=\"curve\" d=\"M");
  ASSERT_EQ(std::sscanf(svg.c_str() + curve, "class=\"curve\" d=\"M%*f %*f %lf %lf", &column, &row),
            2);
  EXPECT_NEAR(column, (area[0] + area[1]) / 2, 0.06);
  EXPECT_NEAR(row, area[3] - (area[3] - area[2]) * 30 / y[1], 0.06);
  EXPECT_THAT(svg, HasSubstr("<g class=\"run-2\">"));
}

TEST(LineChart, OnePointAndALevelCurveAreDrawn) {
  EXPECT_THAT(to_svg(chart_of({{7, 3}})), HasSubstr("class=\"marks\""));
  for (const double level : {0.0, 5.0}) {
    auto chart = chart_of({{0, level}, {100, level}});
    chart.y_range = YRange::OfTheValues;
    EXPECT_THAT(to_svg(chart), Not(HasSubstr("nan")));
    EXPECT_THAT(to_svg(chart), Not(HasSubstr("inf")));
  }
}

/// Where the texts of this anchor stand, and how many characters they have.
std::vector<std::pair<double, std::size_t>> labels(const std::string& svg, const char* anchor) {
  std::vector<std::pair<double, std::size_t>> found;
  for (std::size_t at = 0; (at = svg.find("<text x=", at)) != std::string::npos; ++at) {
    const std::size_t open = svg.find('>', at), end = svg.find('<', open);
    if (svg.substr(at, open - at).find(anchor) != std::string::npos)
      found.emplace_back(std::atof(svg.c_str() + at + 9), end - open - 1);
  }
  return found;
}

TEST(LineChart, LongNumbersHaveRoomInTheMargins) {
  constexpr double kCharacter = 7;  // of 13.5 px, on the average of digits and commas
  for (const double high : {1.0, 100.0, 300'000.0, 3e9}) {
    auto chart = chart_of({{0, 0}, {high, high * 0.6}});
    chart.x.high = high;
    const std::string svg = to_svg(chart);
    for (const auto& [x, length] : labels(svg, "\"end\""))
      EXPECT_GE(x, kCharacter * static_cast<double>(length)) << high;
    const auto columns = labels(svg, "\"middle\"");
    ASSERT_GE(columns.size(), 2u) << high;
    double end = 0;
    for (const auto& [x, length] : columns) {
      const double half = kCharacter * static_cast<double>(length) / 2;
      EXPECT_LE(x + half, 400) << high;
      EXPECT_GE(x - half, end) << high;
      end = x + half;
    }
  }
}

TEST(LineChart, AnAxisOfNumbersFrom0IsNeverBelow0) {
  for (const auto range : {YRange::OfTheValues, YRange::FromZero}) {
    auto chart = chart_of({{0, 0}, {100, 0}});
    chart.y_range = range;
    EXPECT_EQ(numbers(to_svg(chart), "data-y"), (std::vector<double>{0, 1}));
    chart.curves[0].points = {{0, 0}, {50, 0.03}, {100, 12}};
    EXPECT_EQ(numbers(to_svg(chart), "data-y")[0], 0);
  }
}

TEST(LineChart, ARangeOfTheValuesBeginsAtALineOfTheGridThatIsNear) {
  for (const double low : {2.87, 1.77, 0.03, 4.218}) {
    auto chart = chart_of({{0, 7.9}, {100, low}});
    chart.y_range = YRange::OfTheValues;
    chart.rows = 8;
    const std::string svg = to_svg(chart);
    const double begin = numbers(svg, "data-y")[0];
    EXPECT_LE(begin, low);
    EXPECT_GE(begin, low - 1);
    EXPECT_THAT(svg, HasSubstr("y=\"202.0\" dy"));
  }
}

TEST(LineChart, AThousandPointsHaveNoMarks) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 1000; ++i) points.push_back({i / 10.0, std::sin(i)});
  EXPECT_THAT(to_svg(chart_of(points)), Not(HasSubstr("class=\"marks\"")));
}

TEST(Thinned, EachColumnKeepsItsEndsAndExtremes) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 100'000; ++i)
    points.push_back({static_cast<double>(i), std::sin(i * 0.37) * i});
  constexpr std::size_t kColumns = 100;
  const auto kept = thinned(points, kColumns);
  EXPECT_LE(kept.size(), 4 * (kColumns + 1));
  EXPECT_EQ(kept.front(), points.front());
  EXPECT_EQ(kept.back(), points.back());
  EXPECT_TRUE(std::is_sorted(kept.begin(), kept.end(), [](auto& a, auto& b) { return a.x < b.x; }));
  const auto highest = [](const std::vector<ChartPoint>& all, double from, double to) {
    double best = -INFINITY;
    for (const ChartPoint& point : all)
      if (point.x >= from && point.x < to) best = std::max(best, point.y);
    return best;
  };
  const double width = 99'999.0 / kColumns;
  for (std::size_t column = 0; column < kColumns; ++column) {
    const double from = static_cast<double>(column) * width;
    EXPECT_EQ(highest(kept, from, from + width), highest(points, from, from + width));
  }
  EXPECT_EQ(thinned({{0, 1}, {1, 2}}, 1).size(), 2u);
  EXPECT_EQ(thinned(std::vector<ChartPoint>(3000, {7, 1}), 10).size(), 2u);
}

}  // namespace

}  // namespace dragoman
