// Matrices as whole numbers of 8 bits with a scale for each row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dragoman {

/// values[row, column] is about whole[row * columns + column] * scales[row]. Whole numbers are from
/// -127 to 127. In each row the value of largest magnitude becomes -127 or 127.
struct QuantizedRows {
  std::vector<std::int8_t> whole;
  std::vector<float> scales;
};

/// values [rows, columns], finite.
QuantizedRows quantize_rows(std::span<const float> values, std::int64_t columns);

}  // namespace dragoman
