#include "training/moving_average.h"

#include <algorithm>

namespace dragoman {

double average_decay(double decay, std::int64_t update) {
  const auto u = static_cast<double>(update);
  return std::min(decay, (1 + u) / (10 + u));
}

void MovingAverage::add(std::int64_t begin, const torch::Tensor& weights, std::int64_t update) {
  const torch::NoGradGuard no_grad;
  values.narrow(0, begin, weights.numel()).lerp_(weights, 1 - average_decay(decay, update));
}

}  // namespace dragoman
