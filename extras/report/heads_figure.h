// All heads of a stack as a figure for a paper: a small attention matrix for each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

struct HeadPicture {
  std::vector<float> weights;  ///< [rows, keys], from 0 to 1
  std::string note;            ///< below it: "1.3 bits"
};

struct HeadsFigure {
  std::string title, note;  ///< the note stands below the pictures
  std::int64_t rows, keys;
  std::vector<std::vector<HeadPicture>> layers;  ///< [layers][heads]
};

/// An SVG file of its own: a row for each layer, a column for each head.
std::string to_svg(const HeadsFigure& figure);

}  // namespace dragoman
