#include "extras/report/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/formatted_text.h"

namespace dragoman {

namespace {

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

}  // namespace

Ticks round_ticks(double low, double high, int count) {
  const double least = (high - low) / count;
  const double power = std::pow(10.0, exponent_of(least));
  Ticks ticks{.step = 10 * power, .at = {}};
  for (const double digit : {5, 2, 1})
    if (digit * power >= least * (1 - 1e-9)) ticks.step = digit * power;
  const double first = std::ceil(low / ticks.step - 1e-9),
               last = std::floor(high / ticks.step + 1e-9);
  // Near 2^53 and above, n + 1 may be n.
  const double steps = std::min(last - first, 10.0 * count);
  for (int n = 0; n <= steps; ++n) ticks.at.push_back((first + n) * ticks.step + 0.0);  // -0 is 0
  return ticks;
}

std::string tick_text(double value, double step) {
  const int exponent = exponent_of(step);
  if (exponent >= 0 && std::abs(value) >= 1e15) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  if (exponent >= 0) return with_separators(std::llround(value));
  if (exponent > -4) return fixed_text(value, -exponent);
  if (std::abs(value) < step / 2) return "0";
  const int own = exponent_of(std::abs(value));
  return join_text(fixed_text(value / std::pow(10.0, own), std::max(0, own - exponent)), "e", own);
}

namespace {

// The drawing in its own units; the plotting area leaves room for the numbers.
constexpr double kWidth = 400, kHeight = 250;
constexpr double kTop = 10, kBottom = 202;
/// The distance from the drawing's edge to a number, and from a number to the plotting area.
constexpr double kEdge = 2, kGap = 6;
/// Points are marked if no curve has more points than this.
constexpr std::size_t kMostMarks = 40;

struct Range {
  double low, high;
};

Range range_of_values(const LineChart& chart) {
  Range range{INFINITY, -INFINITY};
  for (const Curve& curve : chart.curves)
    for (const ChartPoint& point : curve.points)
      range = {std::min(range.low, point.y), std::max(range.high, point.y)};
  return range;
}

Range y_range(const LineChart& chart) {
  Range range = range_of_values(chart);
  if (chart.y_range != YRange::OfTheValues) range.low = std::min(range.low, 0.0);
  if (chart.y_range == YRange::Fraction) range.high = std::max(range.high, 0.1);
  if (range.low ==
      range.high) {  // a level curve lies in the middle, a curve of zeros at the bottom
    if (range.low == 0) return {0, 1};
    const double room = std::abs(range.low) / 2;
    return {range.low - room, range.high + room};
  }
  range.high += (range.high - range.low) * 0.04;
  if (chart.y_range != YRange::OfTheValues) return range;
  for (double step = 0, before = -1; step != before;) {  // a wider range may have wider steps
    before = step;
    step = round_ticks(range.low, range.high, chart.rows).step;
    range.low = step * std::floor(range.low / step + 1e-9);
  }
  return range;
}

std::string decimal(double value) { return fixed_text(value, 1); }

std::string exact(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

/// The greatest width of a number of the axes in any usual font, at the largest size of the style
/// sheet.
double width_of(const std::string& number) {
  constexpr double kDigit = 8.6, kStop = 4.6;
  double width = 0;
  for (const char c : number) width += c == ',' || c == '.' ? kStop : kDigit;
  return width;
}

double widest(const Ticks& ticks) {
  double width = 0;
  for (const double value : ticks.at)
    width = std::max(width, width_of(tick_text(value, ticks.step)));
  return width;
}

/// The numbers of both axes, and the mapping from values to coordinates of the drawing.
struct Scale {
  Range x, y;
  Ticks columns, rows;  ///< columns in units of the x axis
  double left, right;

  double column(double value) const {
    return left + (right - left) * (value - x.low) / (x.high - x.low);
  }
  double row(double value) const {
    return kBottom - (kBottom - kTop) * (value - y.low) / (y.high - y.low);
  }
};

/// As many numbers below the axis as fit beside each other.
Ticks columns_of(const XAxis& x, double room) {
  const double low = x.low / x.unit, high = x.high / x.unit;
  Ticks ticks;
  for (int count = 5; count > 0; --count) {
    ticks = round_ticks(low, high, count);
    if (widest(ticks) + 2 * kGap <= room * ticks.step / (high - low)) break;
  }
  return ticks;
}

Scale scale_of(const LineChart& chart) {
  Scale scale{.x = {chart.x.low, chart.x.high},
              .y = y_range(chart),
              .columns = {},
              .rows = {},
              .left = 0,
              .right = kWidth - 8};
  scale.rows = round_ticks(scale.y.low, scale.y.high, chart.rows);
  scale.left = kEdge + widest(scale.rows) + kGap;
  scale.columns = columns_of(chart.x, scale.right - scale.left);
  if (scale.columns.at.empty()) return scale;
  const double last = scale.columns.at.back();
  const double fraction = (last * chart.x.unit - chart.x.low) / (chart.x.high - chart.x.low);
  const double half = width_of(tick_text(last, scale.columns.step)) / 2;
  if (fraction > 0)
    scale.right =
        std::min(scale.right, scale.left + (kWidth - kEdge - half - scale.left) / fraction);
  return scale;
}

std::string grid(const LineChart& chart, const Scale& scale) {
  std::string svg = "<g class=\"grid\">";
  const std::string left = decimal(scale.left), right = decimal(scale.right);
  for (const double value : scale.rows.at) {
    const std::string y = decimal(scale.row(value));
    svg +=
        join_text("<path d=\"M", left, " ", y, "H", right, "\"/><text x=\"",
                  decimal(scale.left - kGap), "\" y=\"", y, "\" dy=\".35em\" text-anchor=\"end\">",
                  tick_text(value, scale.rows.step), "</text>");
  }
  for (const double value : scale.columns.at) {
    const std::string x = decimal(scale.column(value * chart.x.unit));
    svg += join_text("<path d=\"M", x, " ", kBottom, "v5\"/><text x=\"", x, "\" y=\"", kBottom + 20,
                     "\" text-anchor=\"middle\">", tick_text(value, scale.columns.step), "</text>");
  }
  return svg + join_text("<path class=\"axis\" d=\"M", left, " ", kBottom, "H", right,
                         "\"/><text class=\"title\" x=\"", decimal((scale.left + scale.right) / 2),
                         "\" y=\"", kHeight - 6, "\" text-anchor=\"middle\">",
                         escaped(chart.x.title), "</text></g>");
}

enum class Marks { None, EachPoint };

std::string drawn(const Curve& curve, const Scale& scale, Marks marked) {
  std::string line, marks;
  const auto columns = static_cast<std::size_t>(scale.right - scale.left);
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
  if (!(points.back().x > points.front().x)) return {points.front(), points.back()};
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
  const Scale scale = scale_of(chart);
  std::string svg =
      join_text("<svg class=\"", chart.x.name, "\" viewBox=\"0 0 ", kWidth, " ", kHeight,
                "\" role=\"img\" aria-label=\"", escaped(chart.label), "\" data-x=\"",
                exact(scale.x.low), " ", exact(scale.x.high), "\" data-y=\"", exact(scale.y.low),
                " ", exact(scale.y.high), "\" data-area=\"", decimal(scale.left), " ",
                decimal(scale.right), " ", kTop, " ", kBottom, "\">", grid(chart, scale));
  const bool few = std::all_of(chart.curves.begin(), chart.curves.end(), [](const Curve& curve) {
    return curve.points.size() <= kMostMarks;
  });
  for (const Curve& curve : chart.curves) {
    const bool alone = curve.points.size() == 1;  // a line of one point is invisible
    if (!curve.points.empty())
      svg += drawn(curve, scale, few || alone ? Marks::EachPoint : Marks::None);
  }
  return svg + "</svg>";
}

}  // namespace dragoman
