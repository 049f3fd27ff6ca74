#include "extras/report/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string_view>

#include "base/error.h"
#include "base/formatted_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

/// In px, like all lengths of a figure.
constexpr double kFigureFont = 11, kFigureGap = 6, kFigureMargin = 8, kFigureTitle = 24;
constexpr std::string_view kQuietFill = " fill=\"#555555\"";

/// About the width of a character of the font.
constexpr double kCharacter = 0.62 * kFigureFont;

/// With one decimal.
std::string figure_number(double value) { return fixed_text(value, 1); }

/// The approximate width of a text, by the number of its characters.
double figure_width_of(std::string_view text) {
  return static_cast<double>(count_code_points(text)) * kCharacter;
}

/// The width of the widest text.
double figure_width_of(const std::vector<std::string>& texts) {
  double most = 0;
  for (const std::string& text : texts) most = std::max(most, figure_width_of(text));
  return most;
}

/// A <text> with more attributes: " text-anchor=\"end\"".
std::string figure_text(double x, double y, std::string_view attributes, std::string_view text) {
  return join_text("<text x=\"", figure_number(x), "\" y=\"", figure_number(y), "\"", attributes,
                   ">", escaped(text), "</text>\n");
}

/// The frame of a picture, of this colour.
std::string figure_outline(double x, double y, double width, double height,
                           std::string_view colour) {
  return join_text("<rect x=\"", figure_number(x), "\" y=\"", figure_number(y), "\" width=\"",
                   figure_number(width), "\" height=\"", figure_number(height),
                   "\" fill=\"none\" stroke=\"", colour, "\"/>\n");
}

struct FigureFrame {
  std::string title;
  double left, width, height;
};
/// The SVG file: `body` on white paper, below the title at (`left`, kFigureMargin).
std::string framed_figure(const FigureFrame& frame, const std::string& body) {
  const double width =
      std::max(frame.width, frame.left + figure_width_of(frame.title) + kFigureMargin);
  const std::string across = figure_number(width), down = figure_number(frame.height);
  return join_text(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", across, "\" height=\"", down,
      "\" viewBox=\"0 0 ", across, ' ', down,
      "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"", figure_number(kFigureFont),
      "\" role=\"img\" aria-label=\"", escaped(frame.title), "\">\n<title>", escaped(frame.title),
      "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      figure_text(frame.left, kFigureMargin + kFigureFont, " font-weight=\"bold\"", frame.title),
      body, "</svg>\n");
}

constexpr int kDarknesses = 24;

/// Small cells of one number each. Cells of the same colour and darkness are one path, so that a
/// picture of thousands of cells stays small.
class FigureCells {
 public:
  /// The cell at a column and row, from 0; the value is from -1 to 1. Blue above 0, orange below;
  /// small numbers stay visible, as the darkness is the square root.
  void add(std::int64_t column, std::int64_t row, double value) {
    const auto darkness =
        static_cast<int>(std::lround(kDarknesses * std::sqrt(std::min(1.0, std::abs(value)))));
    if (darkness == 0) return;
    std::vector<Run>& runs = runs_[value < 0 ? -darkness : darkness];
    if (!runs.empty() && runs.back().row == row &&
        runs.back().column + runs.back().length == column)
      ++runs.back().length;
    else
      runs.push_back({column, row, 1});
  }

  /// All cells, each of this width and height; the corner of the first one is at (x, y).
  std::string drawing(double x, double y, double cell_width, double cell_height) const {
    std::string svg =
        join_text("<g shape-rendering=\"crispEdges\" transform=\"translate(", figure_number(x), ' ',
                  figure_number(y), ") scale(", fixed_text(cell_width, 4), ' ',
                  fixed_text(cell_height, 4), ")\">\n");
    for (const auto& [darkness, runs] : runs_) {
      svg += join_text("<path fill=\"", darkness < 0 ? "#d55e00" : "#0b3a6f", "\" fill-opacity=\"",
                       fixed_text(std::abs(darkness) / static_cast<double>(kDarknesses), 2),
                       "\" d=\"");
      for (const auto& [column, row, length] : runs)
        svg += join_text('M', column, ' ', row, 'h', length, "v1h-", length, 'z');
      svg += "\"/>\n";
    }
    return svg + "</g>\n";
  }

 private:
  struct Run {
    std::int64_t column, row, length;
  };
  std::map<int, std::vector<Run>> runs_;  // by darkness, below 0 for orange
};

constexpr double kCell = 18;

/// Black if the weight is 1. Small weights stay visible: the darkness is the square root.
std::string cell(double x, double y, float weight, const std::string& label) {
  return join_text("<rect x=\"", figure_number(x), "\" y=\"", figure_number(y), "\" width=\"",
                   figure_number(kCell), "\" height=\"", figure_number(kCell),
                   "\" fill=\"#0b3a6f\" fill-opacity=\"",
                   fixed_text(std::sqrt(static_cast<double>(weight)), 3), "\"><title>",
                   escaped(label), ' ', fixed_text(static_cast<double>(weight), 4),
                   "</title></rect>\n");
}

/// The place of the matrix in the figure.
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
