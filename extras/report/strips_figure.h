// Vectors as a figure for a paper: a strip for each, a cell for each number.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

struct Strip {
  std::string name;            ///< "+ attention"
  std::vector<float> numbers;  ///< one or more; strips may have different lengths
  std::string note = {};       ///< on the right: "length 11.3"
  bool begins_group = false;   ///< stands a little below the one before
};

struct StripsFigure {
  std::string title;  ///< "Input of the encoder at “teacher”"
  std::vector<Strip> strips;
};

/// An SVG file of its own. The largest number of all strips is the darkest; a key says the colours.
std::string to_svg(const StripsFigure& figure);

}  // namespace dragoman
