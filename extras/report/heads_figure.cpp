#include "extras/report/heads_figure.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "extras/report/figure_drawing.h"

namespace dragoman {

namespace {

constexpr double kLongestSide = 120, kBetween = 14;

FigureCells cells_of(const HeadPicture& head, std::int64_t keys) {
  FigureCells cells;
  for (std::size_t i = 0; i < head.weights.size(); ++i)
    cells.add(static_cast<std::int64_t>(i) % keys, static_cast<std::int64_t>(i) / keys,
              static_cast<double>(head.weights[i]));
  return cells;
}

}  // namespace

std::string to_svg(const HeadsFigure& figure) {
  const double cell = kLongestSide / static_cast<double>(std::max(figure.rows, figure.keys));
  const double width = cell * static_cast<double>(figure.keys);
  const double height = cell * static_cast<double>(figure.rows);
  const double left = kFigureMargin + figure_width_of("layer 10") + kFigureGap;
  double x = left, y = kFigureMargin + kFigureTitle, right = left;
  std::string svg;
  for (std::size_t h = 0; h < figure.layers.front().size(); ++h, x += width + kBetween)
    svg += figure_text(x + width / 2, y + kFigureFont, " text-anchor=\"middle\"",
                       join_text("head ", h + 1));
  y += kFigureFont + kFigureGap;
  for (std::size_t l = 0; l < figure.layers.size(); ++l) {
    svg += figure_text(left - kFigureGap, y + height / 2, " text-anchor=\"end\"",
                       join_text("layer ", l + 1));
    x = left;
    for (const HeadPicture& head : figure.layers[l]) {
      svg += cells_of(head, figure.keys).drawing(x, y, cell, cell) +
             figure_outline(x, y, width, height, "#999999") +
             figure_text(x + width / 2, y + height + kFigureFont + 2,
                         join_text(" text-anchor=\"middle\"", kQuietFill), head.note);
      x += width + kBetween;
    }
    right = std::max(right, x - kBetween);
    y += height + kFigureFont + kBetween;
  }
  svg += figure_text(left, y + kFigureFont - 4, kQuietFill, figure.note);
  return framed_figure(
      {.title = figure.title,
       .left = left,
       .width = std::max(right, left + figure_width_of(figure.note)) + kFigureMargin,
       .height = y + kFigureFont + kFigureMargin},
      svg);
}

}  // namespace dragoman
