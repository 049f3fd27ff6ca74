// One attention matrix as a figure for a paper: vector graphics with named fonts, nothing else.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

struct AttentionFigure {
  std::string title;                    ///< "Decoder to encoder, layer 4, head 2"
  std::string rows_title, keys_title;   ///< "target", "source"
  std::vector<std::string> rows, keys;  ///< the pieces of the queries and of the keys
  std::vector<float> weights;           ///< [rows, keys], from 0 to 1
};

/// An SVG file of its own. A cell's darkness is its weight, and its <title> says the number.
std::string to_svg(const AttentionFigure& figure);

}  // namespace dragoman
