// What the figures for papers have in common: vector graphics with named fonts, nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dragoman {

/// In px, as all lengths of a figure.
inline constexpr double kFigureFont = 11, kFigureGap = 6, kFigureMargin = 8, kFigureTitle = 24;
inline constexpr std::string_view kQuietFill = " fill=\"#555555\"";

/// With one decimal.
std::string figure_number(double value);

/// About the width of a text, which is measured by its characters.
double figure_width_of(std::string_view text);
double figure_width_of(const std::vector<std::string>& texts);  ///< of the widest

/// A <text> with more attributes: " text-anchor=\"end\"".
std::string figure_text(double x, double y, std::string_view attributes, std::string_view text);

/// The frame of a picture, of this colour.
std::string figure_outline(double x, double y, double width, double height,
                           std::string_view colour);

/// The SVG file: `body` on white paper, below the title at (`left`, kFigureMargin).
struct FigureFrame {
  std::string title;
  double left, width, height;
};
std::string framed_figure(const FigureFrame& frame, const std::string& body);

/// Small cells of one number each. Cells of the same colour and darkness are one path, so that a
/// picture of thousands of cells stays small.
class FigureCells {
 public:
  /// The cell at a column and row, from 0; the value is from -1 to 1. Blue above 0, orange below;
  /// small numbers stay visible, as the darkness is the square root.
  void add(std::int64_t column, std::int64_t row, double value);
  /// The cells, each so wide and high, with the first one's corner at (x, y).
  std::string drawing(double x, double y, double cell_width, double cell_height) const;

 private:
  struct Run {
    std::int64_t column, row, length;
  };
  std::map<int, std::vector<Run>> runs_;  // by darkness, below 0 for orange
};

}  // namespace dragoman
