#include "extras/report/figure_drawing.h"

#include <algorithm>
#include <cmath>

#include "base/amounts.h"
#include "base/error.h"
#include "base/html_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

/// About the width of a character of the font.
constexpr double kCharacter = 0.62 * kFigureFont;

constexpr int kDarknesses = 24;

}  // namespace

std::string figure_number(double value) { return fixed_text(value, 1); }

double figure_width_of(std::string_view text) {
  return static_cast<double>(count_code_points(text)) * kCharacter;
}

double figure_width_of(const std::vector<std::string>& texts) {
  double most = 0;
  for (const std::string& text : texts) most = std::max(most, figure_width_of(text));
  return most;
}

std::string figure_text(double x, double y, std::string_view attributes, std::string_view text) {
  return join_text("<text x=\"", figure_number(x), "\" y=\"", figure_number(y), "\"", attributes,
                   ">", escaped(text), "</text>\n");
}

std::string figure_outline(double x, double y, double width, double height,
                           std::string_view colour) {
  return join_text("<rect x=\"", figure_number(x), "\" y=\"", figure_number(y), "\" width=\"",
                   figure_number(width), "\" height=\"", figure_number(height),
                   "\" fill=\"none\" stroke=\"", colour, "\"/>\n");
}

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

void FigureCells::add(std::int64_t column, std::int64_t row, double value) {
  const auto darkness =
      static_cast<int>(std::lround(kDarknesses * std::sqrt(std::min(1.0, std::abs(value)))));
  if (darkness == 0) return;
  std::vector<Run>& runs = runs_[value < 0 ? -darkness : darkness];
  if (!runs.empty() && runs.back().row == row && runs.back().column + runs.back().length == column)
    ++runs.back().length;
  else
    runs.push_back({column, row, 1});
}

std::string FigureCells::drawing(double x, double y, double cell_width, double cell_height) const {
  std::string svg = join_text("<g shape-rendering=\"crispEdges\" transform=\"translate(",
                              figure_number(x), ' ', figure_number(y), ") scale(",
                              fixed_text(cell_width, 4), ' ', fixed_text(cell_height, 4), ")\">\n");
  for (const auto& [darkness, runs] : runs_) {
    svg +=
        join_text("<path fill=\"", darkness < 0 ? "#d55e00" : "#0b3a6f", "\" fill-opacity=\"",
                  fixed_text(std::abs(darkness) / static_cast<double>(kDarknesses), 2), "\" d=\"");
    for (const auto& [column, row, length] : runs)
      svg += join_text('M', column, ' ', row, 'h', length, "v1h-", length, 'z');
    svg += "\"/>\n";
  }
  return svg + "</g>\n";
}

}  // namespace dragoman
