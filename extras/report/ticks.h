// Round numbers along an axis, and their texts.
#pragma once

#include <string>
#include <vector>

namespace dragoman {

struct Ticks {
  double step = 1;  ///< 1, 2 or 5 times a power of ten
  std::vector<double> at;
};

/// The multiples of a round step from `low` to `high`, at most `count` + 1 of them. low < high.
Ticks round_ticks(double low, double high, int count);

/// The value with as many decimals as the step needs: "0.5", "1,500", "5e-4".
std::string tick_text(double value, double step);

}  // namespace dragoman
