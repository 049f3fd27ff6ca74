// The paper's positional encoding (section 3.5).
#pragma once

#include <cmath>
#include <cstdint>

namespace dragoman {

inline float sinusoid(std::int64_t position, std::int64_t column, std::int64_t d_model) {
  const std::int64_t frequency = column / 2;  // a sine and a cosine of each
  const double exponent = static_cast<double>(frequency) * (2.0 / static_cast<double>(d_model));
  const double angle = static_cast<double>(position) * std::exp(exponent * -std::log(10000.0));
  return static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

}  // namespace dragoman
