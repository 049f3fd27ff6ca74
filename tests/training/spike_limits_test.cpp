#include "training/spike_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "tests/test_device.h"

namespace dragoman {
namespace {

torch::Tensor scalar(double value) {
  return torch::full({}, value, torch::TensorOptions(torch::kFloat64).device(test_device()));
}

/// Mostly near the mean, sometimes far above it, sometimes not a number.
double drawn(RandomStream& random, double mean) {
  const auto draw = random.below(40);
  if (draw == 0) return std::numeric_limits<double>::quiet_NaN();
  if (draw == 1) return std::numeric_limits<double>::infinity();
  return mean * (draw < 5 ? 4 : 1) * (0.5 + static_cast<double>(random.below(1000)) / 1000);
}

TEST(SpikeLimits, LimitsAreThoseOfTheHistoryToTheLastBit) {
  for (const double factor : {0.0, 3.0}) {
    LossHistory history = new_history(100);
    SpikeLimits limits(history, factor, test_device());
    RandomStream random(5, 1);
    int left_out = 0;
    for (int update = 0; update < 400; ++update) {
      if (update == 200) limits = SpikeLimits(history, factor, test_device());  // resumed
      const double loss = drawn(random, 5), norm = drawn(random, 2);
      const double limit = is_spike(history, loss, factor) ? 0 : max_gradient_norm(history, factor);
      EXPECT_EQ(limits.max_gradient_norm(scalar(loss)).item<double>(), limit);
      const bool made = std::isfinite(norm) && norm <= limit;
      limits.note(scalar(loss), scalar(norm),
                  torch::full({}, made, torch::TensorOptions(torch::kBool).device(test_device())));
      if (made)
        note_made(history, loss, norm);
      else
        ++left_out;
    }
    EXPECT_GT(left_out, factor == 0 ? 20 : 40);
    EXPECT_GT(history.updates, 250);
  }
}

}  // namespace
}  // namespace dragoman
