// Curves over one axis as SVG, drawn without a script, and round numbers along the axes. The style
// sheet has the colours and fonts: curve i has the class "run-i".
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

/// The numbers along the x axis, and the unit in which they are written.
struct XAxis {
  std::string_view name;  ///< class of the drawing, "by-updates"
  std::string title;      ///< below the axis, with the unit
  double low = 0, high = 1;
  double unit = 1;  ///< numbers are written in multiples of it
};

/// The range of the y axis. It does not go below 0 unless a value does. If all values are 0, it is
/// 0 to 1.
enum class YRange {
  OfTheValues,  ///< from a line of the grid
  FromZero,
  Fraction,  ///< from 0, to 0.1 at least
};

struct LineChart {
  std::string label;  ///< a description for readers who cannot see it
  XAxis x;
  YRange y_range = YRange::OfTheValues;
  int rows = 5;               ///< about the number of grid rows
  std::vector<Curve> curves;  ///< at least one point in all
};

/// An <svg>. Its attributes data-x and data-y have the ranges of the plotting area, and data-area
/// has the area's edges: left, right, top, bottom. The margins are as wide as the numbers need.
std::string to_svg(const LineChart& chart);

/// The path of a mark at (x, y). Each run has another shape, so that not only colours tell runs
/// apart.
std::string mark(std::size_t run, double x, double y);

/// At most four points for each of `columns` equal sections of the range of x: the first, lowest,
/// highest and last. A drawing of that many columns looks the same.
std::vector<ChartPoint> thinned(const std::vector<ChartPoint>& points, std::size_t columns);

/// Round numbers along an axis.
struct Ticks {
  double step = 1;  ///< 1, 2 or 5 times a power of ten
  std::vector<double> at;
};

/// The multiples of a round step from `low` to `high`, at most `count` + 1 of them. low < high.
Ticks round_ticks(double low, double high, int count);

/// The value with as many decimals as the step needs: "0.5", "1,500", "5e-4".
std::string tick_text(double value, double step);

}  // namespace dragoman
