// Curves over one axis as SVG, drawn without a script. Colours and fonts are the style sheet's:
// curve i has the class "run-i".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {

struct ChartPoint {
  double x = 0, y = 0;
  bool operator==(const ChartPoint&) const = default;
};

struct Curve {
  std::size_t run = 0;
  std::vector<ChartPoint> points;  ///< finite, by rising x
};

/// What the numbers along x are, and in which unit they are written.
struct XAxis {
  std::string_view name;  ///< class of the drawing, "by-updates"
  std::string title;      ///< below the axis, with the unit
  double low = 0, high = 1;
  double unit = 1;  ///< numbers are written in multiples of it
};

/// Where no value is below 0 the axis is not either, and it runs from 0 to 1 where all are 0.
enum class YRange {
  OfTheValues,  ///< from a line of the grid
  FromZero,
  Share,  ///< from 0, to 0.1 at least
};

struct LineChart {
  std::string label;  ///< for those who cannot see it
  XAxis x;
  YRange y_range = YRange::OfTheValues;
  int rows = 5;               ///< parts of the y axis between lines of the grid, about
  std::vector<Curve> curves;  ///< at least one point in all
};

/// An <svg>; the attributes data-x and data-y hold the ranges of its plotting area, and data-area
/// where that lies: left, right, top, bottom. Its margins hold the numbers, however long.
std::string to_svg(const LineChart& chart);

/// Path of a mark at this place: another shape for each run, so that colours are not all that tells
/// them apart.
std::string mark(std::size_t run, double x, double y);

/// At most four points for each of `columns` equal parts of the range of x: first, lowest, highest
/// and last, so that a drawing of so many columns looks the same.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t columns);

}  // namespace dragoman
