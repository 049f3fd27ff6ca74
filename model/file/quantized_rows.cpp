#include "model/file/quantized_rows.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

QuantizedRows quantize_rows(std::span<const float> values, std::int64_t columns) {
  constexpr float kLargest = 127;  // -128 is not used, so that the range is symmetric
  QuantizedRows rows;
  rows.whole.reserve(values.size());
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t begin = 0; begin < values.size(); begin += width) {
    const auto row = values.subspan(begin, width);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::abs(value));
    const float inverse = largest > 0 ? kLargest / largest : 0;
    for (const float value : row)
      rows.whole.push_back(static_cast<std::int8_t>(std::lrint(value * inverse)));
    rows.scales.push_back(largest / kLargest);
  }
  return rows;
}

}  // namespace dragoman
