// Figures for papers, each an SVG file of its own: vector graphics with named fonts, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dragoman {

/// One attention matrix.
struct AttentionFigure {
  std::string title;                    ///< "Decoder to encoder, layer 4, head 2"
  std::string rows_title, keys_title;   ///< "target", "source"
  std::vector<std::string> rows, keys;  ///< the pieces of the queries and of the keys
  std::vector<float> weights;           ///< [rows, keys], from 0 to 1
};

/// A cell's darkness shows its weight, and its <title> gives the number.
std::string to_svg(const AttentionFigure& figure);

/// The attention matrix of one head.
struct HeadPicture {
  std::vector<float> weights;  ///< [rows, keys], from 0 to 1
  std::string note;            ///< below it: "1.3 bits"
};

/// All heads of a stack.
struct HeadsFigure {
  std::string title, note;  ///< the note stands below the pictures
  std::int64_t rows, keys;
  std::vector<std::vector<HeadPicture>> layers;  ///< [layers][heads]
};

/// A row of small matrices for each layer, a column for each head.
std::string to_svg(const HeadsFigure& figure);

/// A vector, drawn as a strip with a cell for each number.
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

/// The largest number of all strips is the darkest; a key explains the colours.
std::string to_svg(const StripsFigure& figure);

}  // namespace dragoman
