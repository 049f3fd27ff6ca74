#include "extras/report/attention_figure.h"

#include <cmath>
#include <cstddef>

#include "base/amounts.h"
#include "base/error.h"
#include "base/html_text.h"
#include "extras/report/figure_drawing.h"

namespace dragoman {

namespace {

constexpr double kCell = 18;

/// Black where the weight is 1. Small weights stay visible: the darkness is the square root.
std::string cell(double x, double y, float weight, const std::string& label) {
  return join_text("<rect x=\"", figure_number(x), "\" y=\"", figure_number(y), "\" width=\"",
                   figure_number(kCell), "\" height=\"", figure_number(kCell),
                   "\" fill=\"#0b3a6f\" fill-opacity=\"",
                   fixed_text(std::sqrt(static_cast<double>(weight)), 3), "\"><title>",
                   escaped(label), ' ', fixed_text(static_cast<double>(weight), 4),
                   "</title></rect>\n");
}

/// Where the matrix stands in the figure.
struct Place {
  double left, top, right, bottom;
};

Place place_of(const AttentionFigure& figure) {
  const double left = kFigureMargin + kFigureFont + 2 * kFigureGap + figure_width_of(figure.rows);
  const double top =
      kFigureMargin + kFigureTitle + kFigureFont + 2 * kFigureGap + figure_width_of(figure.keys);
  return {.left = left,
          .top = top,
          .right = left + kCell * static_cast<double>(figure.keys.size()),
          .bottom = top + kCell * static_cast<double>(figure.rows.size())};
}

std::string titles_of_axes(const AttentionFigure& figure, const Place& place) {
  const double x = kFigureMargin + kFigureFont, middle = (place.top + place.bottom) / 2;
  return figure_text((place.left + place.right) / 2, kFigureMargin + kFigureTitle + kFigureFont / 2,
                     join_text(" text-anchor=\"middle\"", kQuietFill), figure.keys_title) +
         figure_text(x, middle,
                     join_text(" text-anchor=\"middle\"", kQuietFill, " transform=\"rotate(-90 ",
                               figure_number(x), ' ', figure_number(middle), ")\""),
                     figure.rows_title);
}

std::string key_names(const AttentionFigure& figure, const Place& place) {
  std::string svg;
  const double y = place.top - kFigureGap;
  for (std::size_t k = 0; k < figure.keys.size(); ++k) {
    const double x = place.left + kCell * (static_cast<double>(k) + 0.5) + kFigureFont / 3;
    svg += figure_text(
        x, y, join_text(" transform=\"rotate(-90 ", figure_number(x), ' ', figure_number(y), ")\""),
        figure.keys[k]);
  }
  return svg;
}

std::string rows_of(const AttentionFigure& figure, const Place& place) {
  std::string svg;
  const std::size_t keys = figure.keys.size();
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    const double y = place.top + kCell * static_cast<double>(r);
    svg += figure_text(place.left - kFigureGap, y + kCell / 2 + kFigureFont / 3,
                       " text-anchor=\"end\"", figure.rows[r]);
    for (std::size_t k = 0; k < keys; ++k)
      svg += cell(place.left + kCell * static_cast<double>(k), y, figure.weights[r * keys + k],
                  join_text(figure.rows[r], " to ", figure.keys[k]));
  }
  return svg;
}

}  // namespace

std::string to_svg(const AttentionFigure& figure) {
  const Place place = place_of(figure);
  return framed_figure({.title = figure.title,
                        .left = place.left,
                        .width = place.right + kFigureMargin,
                        .height = place.bottom + kFigureMargin},
                       titles_of_axes(figure, place) + key_names(figure, place) +
                           rows_of(figure, place) +
                           figure_outline(place.left, place.top, place.right - place.left,
                                          place.bottom - place.top, "#999999"));
}

}  // namespace dragoman
