#include "extras/report/strips_figure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/amounts.h"
#include "base/error.h"
#include "extras/report/figure_drawing.h"

namespace dragoman {

namespace {

constexpr double kWidest = 640, kStripHeight = 15, kRow = 19, kGroupGap = 9;
constexpr int kKeyCells = 24;

/// The cells of a strip, whose numbers are divided by `most`.
FigureCells cells_of(const std::vector<float>& numbers, double most) {
  FigureCells cells;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    cells.add(static_cast<std::int64_t>(i), 0, static_cast<double>(numbers[i]) / most);
  return cells;
}

double largest(const std::vector<Strip>& strips) {
  double most = 0;
  for (const Strip& strip : strips)
    for (const float number : strip.numbers)
      most = std::max(most, std::abs(static_cast<double>(number)));
  return most > 0 ? most : 1;
}

std::string outline(double x, double y, double width) {
  return figure_outline(x, y, width, kStripHeight, "#bbbbbb");
}

/// From the least to the greatest number, with both beside it.
std::string key(double x, double y, double most) {
  std::vector<float> numbers;
  for (int i = 0; i < kKeyCells; ++i)
    numbers.push_back(static_cast<float>(2.0 * i / (kKeyCells - 1) - 1));
  constexpr double kWidth = 120;
  const std::string end = fixed_text(most, 2);
  const double left = x + figure_width_of("-" + end) + kFigureGap, base = y + kStripHeight - 4;
  return figure_text(left - kFigureGap, base, join_text(" text-anchor=\"end\"", kQuietFill),
                     "\xE2\x88\x92" + end) +
         cells_of(numbers, 1).drawing(left, y, kWidth / kKeyCells, kStripHeight) +
         outline(left, y, kWidth) +
         figure_text(left + kWidth + kFigureGap, base, kQuietFill,
                     join_text("+", end, "; a cell is one number of a vector"));
}

}  // namespace

std::string to_svg(const StripsFigure& figure) {
  std::vector<std::string> names, notes;
  std::size_t longest = 1;
  for (const Strip& strip : figure.strips) {
    names.push_back(strip.name);
    notes.push_back(strip.note);
    longest = std::max(longest, strip.numbers.size());
  }
  const double most = largest(figure.strips);
  const double cell = kWidest / static_cast<double>(longest);
  const double left = kFigureMargin + figure_width_of(names) + kFigureGap;
  double y = kFigureMargin + kFigureTitle;
  std::string svg;
  for (const Strip& strip : figure.strips) {
    if (strip.begins_group) y += kGroupGap;
    const double width = cell * static_cast<double>(strip.numbers.size());
    svg +=
        figure_text(left - kFigureGap, y + kStripHeight - 4, " text-anchor=\"end\"", strip.name) +
        cells_of(strip.numbers, most).drawing(left, y, cell, kStripHeight) +
        outline(left, y, width) +
        figure_text(left + width + kFigureGap, y + kStripHeight - 4, kQuietFill, strip.note);
    y += kRow;
  }
  y += kGroupGap;
  return framed_figure(
      {.title = figure.title,
       .left = left,
       .width = left + kWidest + kFigureGap + figure_width_of(notes) + kFigureMargin,
       .height = y + kStripHeight + kFigureMargin},
      svg + key(left, y, most));
}

}  // namespace dragoman
