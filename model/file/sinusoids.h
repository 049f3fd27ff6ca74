// The paper's positional encoding (section 3.5), and Marian's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/file/model_config.h"

namespace dragoman {

/// Sines and cosines alternate. Frequency i of the paper is 10000^(-i / (d_model / 2)), so the last
/// is a little above 1/10000. That of Marian (graph/node_initializers.cpp) is
/// 10000^(-i / (d_model / 2 - 1)), so the last is 1/10000. `positions` is one of these two.
inline float sinusoid(std::int64_t position, std::int64_t column, std::int64_t d_model,
                      Positions positions) {
  const std::int64_t frequency = column / 2;  // a sine and a cosine of each
  const double step = positions == Positions::Marian
                          ? 1.0 / static_cast<double>(std::max<std::int64_t>(d_model / 2 - 1, 1))
                          : 2.0 / static_cast<double>(d_model);
  const double exponent = static_cast<double>(frequency) * step;
  const double angle = static_cast<double>(position) * std::exp(exponent * -std::log(10000.0));
  return static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
}

}  // namespace dragoman
