#include "report/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "report/html.h"
#include "report/ticks.h"

namespace dragoman {

namespace {

// The drawing in its own units; the plotting area leaves room for the numbers.
constexpr double kWidth = 400, kHeight = 250;
constexpr double kLeft = 46, kRight = 390, kTop = 10, kBottom = 206;
/// Points are marked where no curve has more.
constexpr std::size_t kMostMarks = 40;

struct Range {
  double low, high;
};

Range y_range(const LineChart& chart) {
  Range range{INFINITY, -INFINITY};
  for (const Curve& curve : chart.curves)
    for (const ChartPoint& point : curve.points)
      range = {std::min(range.low, point.y), std::max(range.high, point.y)};
  if (chart.y_range != YRange::OfTheValues) range.low = std::min(range.low, 0.0);
  if (chart.y_range == YRange::Share) range.high = std::max(range.high, 0.1);
  if (range.low == range.high) {  // a level curve lies in the middle
    const double room = range.low == 0 ? 1 : std::abs(range.low) / 2;
    return {range.low - room, range.high + room};
  }
  const double room = (range.high - range.low) * 0.04;
  return {range.low - (chart.y_range == YRange::OfTheValues ? room : 0), range.high + room};
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// From values to places in the drawing.
struct Scale {
  Range x, y;

  double column(double value) const {
    return kLeft + (kRight - kLeft) * (value - x.low) / (x.high - x.low);
  }
  double row(double value) const {
    return kBottom - (kBottom - kTop) * (value - y.low) / (y.high - y.low);
  }
};

std::string grid(const LineChart& chart, const Scale& scale) {
  std::string svg = "<g class=\"grid\">";
  const Ticks rows = round_ticks(scale.y.low, scale.y.high, 5);
  for (const double value : rows.at) {
    const std::string y = decimal(scale.row(value));
    svg += join_text("<path d=\"M", kLeft, " ", y, "H", kRight, "\"/><text x=\"", kLeft - 6,
                     "\" y=\"", y, "\" dy=\".35em\" text-anchor=\"end\">",
                     tick_text(value, rows.step), "</text>");
  }
  const Ticks columns = round_ticks(chart.x.low / chart.x.unit, chart.x.high / chart.x.unit, 5);
  for (const double value : columns.at) {
    const std::string x = decimal(scale.column(value * chart.x.unit));
    svg += join_text("<path d=\"M", x, " ", kBottom, "v5\"/><text x=\"", x, "\" y=\"", kBottom + 19,
                     "\" text-anchor=\"middle\">", tick_text(value, columns.step), "</text>");
  }
  return svg + join_text("<path class=\"axis\" d=\"M", kLeft, " ", kBottom, "H", kRight,
                         "\"/><text class=\"title\" x=\"", (kLeft + kRight) / 2, "\" y=\"",
                         kHeight - 6, "\" text-anchor=\"middle\">", escaped(chart.x.title),
                         "</text></g>");
}

enum class Marks { None, EachPoint };

std::string drawn(const Curve& curve, const Scale& scale, Marks marked) {
  std::string line, marks;
  const auto columns = static_cast<std::size_t>(kRight - kLeft);
  for (const ChartPoint& point : thinned(curve.points, columns)) {
    const double x = scale.column(point.x), y = scale.row(point.y);
    line += join_text(line.empty() ? "M" : " ", decimal(x), " ", decimal(y));
    if (marked == Marks::EachPoint) marks += mark(curve.run, x, y);
  }
  return join_text("<g class=\"run-", curve.run, "\"><path class=\"curve\" d=\"", line, "\"/>",
                   marks.empty() ? "" : "<path class=\"marks\" d=\"" + marks + "\"/>", "</g>");
}

}  // namespace

std::string mark(std::size_t run, double x, double y) {
  constexpr std::array<const char*, 4> kShapes = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
                                                  "m-3-3h6v6h-6z", "m0-4l3.6 6.4h-7.2z",
                                                  "m0-4l4 4l-4 4l-4-4z"};
  return join_text("M", decimal(x), " ", decimal(y), kShapes[run % kShapes.size()]);
}

std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t columns) {
  if (points.size() <= 4 * columns) return points;
  const double low = points.front().x,
               width = (points.back().x - low) / static_cast<double>(columns);
  const auto column = [&](std::size_t i) { return std::floor((points[i].x - low) / width); };
  std::vector<ChartPoint> kept;
  for (std::size_t begin = 0, end = 0; begin < points.size(); begin = end) {
    std::size_t lowest = begin, highest = begin;
    for (end = begin; end < points.size() && column(end) == column(begin); ++end) {
      if (points[end].y < points[lowest].y) lowest = end;
      if (points[end].y > points[highest].y) highest = end;
    }
    std::array chosen = {begin, lowest, highest, end - 1};
    std::sort(chosen.begin(), chosen.end());
    const auto unlike = std::unique(chosen.begin(), chosen.end());
    for (auto i = chosen.begin(); i != unlike; ++i) kept.push_back(points[*i]);
  }
  return kept;
}

std::string to_svg(const LineChart& chart) {
  const Scale scale{{chart.x.low, chart.x.high}, y_range(chart)};
  std::string svg = join_text(
      "<svg class=\"", chart.x.name, "\" viewBox=\"0 0 ", kWidth, " ", kHeight,
      "\" role=\"img\" aria-label=\"", escaped(chart.label), "\" data-x=\"", exact(scale.x.low),
      " ", exact(scale.x.high), "\" data-y=\"", exact(scale.y.low), " ", exact(scale.y.high),
      "\" data-area=\"", kLeft, " ", kRight, " ", kTop, " ", kBottom, "\">", grid(chart, scale));
  const bool few = std::all_of(chart.curves.begin(), chart.curves.end(), [](const Curve& curve) {
    return curve.points.size() <= kMostMarks;
  });
  for (const Curve& curve : chart.curves) {
    const bool alone = curve.points.size() == 1;  // a line of one point is not seen
    if (!curve.points.empty())
      svg += drawn(curve, scale, few || alone ? Marks::EachPoint : Marks::None);
  }
  return svg + "</svg>";
}

}  // namespace dragoman
