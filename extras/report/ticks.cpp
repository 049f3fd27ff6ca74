#include "extras/report/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/amounts.h"
#include "base/error.h"

namespace dragoman {

namespace {

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

}  // namespace

Ticks round_ticks(double low, double high, int count) {
  const double least = (high - low) / count;
  const double power = std::pow(10.0, exponent_of(least));
  Ticks ticks{.step = 10 * power, .at = {}};
  for (const double digit : {5, 2, 1})
    if (digit * power >= least * (1 - 1e-9)) ticks.step = digit * power;
  const double first = std::ceil(low / ticks.step - 1e-9),
               last = std::floor(high / ticks.step + 1e-9);
  // Near 2^53 and above, n + 1 may be n.
  const double steps = std::min(last - first, 10.0 * count);
  for (int n = 0; n <= steps; ++n) ticks.at.push_back((first + n) * ticks.step + 0.0);  // -0 is 0
  return ticks;
}

std::string tick_text(double value, double step) {
  const int exponent = exponent_of(step);
  char text[64];
  if (exponent >= 0 && std::abs(value) >= 1e15) {
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
  }
  if (exponent >= 0) return with_separators(std::llround(value));
  if (exponent > -4) {
    std::snprintf(text, sizeof text, "%.*f", -exponent, value);
    return text;
  }
  if (std::abs(value) < step / 2) return "0";
  const int own = exponent_of(std::abs(value));
  std::snprintf(text, sizeof text, "%.*f", std::max(0, own - exponent),
                value / std::pow(10.0, own));
  return join_text(text, "e", own);
}

}  // namespace dragoman
