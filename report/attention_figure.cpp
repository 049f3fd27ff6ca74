#include "report/attention_figure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/amounts.h"
#include "base/error.h"
#include "base/html_text.h"
#include "base/utf8.h"

namespace dragoman {

namespace {

constexpr double kCell = 18, kFont = 11, kGap = 6, kTitle = 24, kMargin = 8;
/// About the width of a character of the font.
constexpr double kCharacter = 0.62 * kFont;

double width_of(const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& text : texts) most = std::max(most, count_code_points(text));
  return static_cast<double>(most) * kCharacter;
}

std::string number(double value) { return fixed_text(value, 1); }

/// Black where the weight is 1. Small weights stay visible: the darkness is the square root.
std::string cell(double x, double y, float weight, const std::string& label) {
  return join_text("<rect x=\"", number(x), "\" y=\"", number(y), "\" width=\"", number(kCell),
                   "\" height=\"", number(kCell), "\" fill=\"#0b3a6f\" fill-opacity=\"",
                   fixed_text(std::sqrt(static_cast<double>(weight)), 3), "\"><title>",
                   escaped(label), ' ', fixed_text(static_cast<double>(weight), 4),
                   "</title></rect>\n");
}

std::string text_at(double x, double y, const std::string& attributes, const std::string& text) {
  return join_text("<text x=\"", number(x), "\" y=\"", number(y), "\"", attributes, ">",
                   escaped(text), "</text>\n");
}

}  // namespace

std::string to_svg(const AttentionFigure& figure) {
  const double left = kMargin + kFont + kGap + width_of(figure.rows) + kGap;
  const double top = kMargin + kTitle + kFont + kGap + width_of(figure.keys) + kGap;
  const double right = left + kCell * static_cast<double>(figure.keys.size());
  const double bottom = top + kCell * static_cast<double>(figure.rows.size());
  const double width =
      std::max(right, left + static_cast<double>(figure.title.size()) * kCharacter) + kMargin;
  std::string svg = join_text(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", number(width), "\" height=\"",
      number(bottom + kMargin), "\" viewBox=\"0 0 ", number(width), ' ', number(bottom + kMargin),
      "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"", number(kFont),
      "\" role=\"img\" aria-label=\"", escaped(figure.title), "\">\n<title>", escaped(figure.title),
      "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  svg += text_at(left, kMargin + kFont, " font-weight=\"bold\"", figure.title);
  svg += text_at((left + right) / 2, kMargin + kTitle + kFont / 2,
                 " text-anchor=\"middle\" fill=\"#555555\"", figure.keys_title);
  const double middle = (top + bottom) / 2;
  svg += text_at(kMargin + kFont, middle,
                 join_text(" text-anchor=\"middle\" fill=\"#555555\" transform=\"rotate(-90 ",
                           number(kMargin + kFont), ' ', number(middle), ")\""),
                 figure.rows_title);
  for (std::size_t k = 0; k < figure.keys.size(); ++k) {
    const double x = left + kCell * (static_cast<double>(k) + 0.5) + kFont / 3;
    svg += text_at(x, top - kGap,
                   join_text(" transform=\"rotate(-90 ", number(x), ' ', number(top - kGap), ")\""),
                   figure.keys[k]);
  }
  for (std::size_t r = 0; r < figure.rows.size(); ++r) {
    const double y = top + kCell * static_cast<double>(r);
    svg += text_at(left - kGap, y + kCell / 2 + kFont / 3, " text-anchor=\"end\"", figure.rows[r]);
    for (std::size_t k = 0; k < figure.keys.size(); ++k)
      svg +=
          cell(left + kCell * static_cast<double>(k), y, figure.weights[r * figure.keys.size() + k],
               join_text(figure.rows[r], " to ", figure.keys[k]));
  }
  return svg + join_text("<rect x=\"", number(left), "\" y=\"", number(top), "\" width=\"",
                         number(right - left), "\" height=\"", number(bottom - top),
                         "\" fill=\"none\" stroke=\"#999999\"/>\n</svg>\n");
}

}  // namespace dragoman
