// Numbers for the tests of layers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace dragoman {

/// In (-1, 1), the same for the same seed.
inline std::vector<float> random_values(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

}  // namespace dragoman
