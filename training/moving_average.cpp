#include "training/moving_average.h"

namespace dragoman {

torch::Tensor average_decay(double decay, const torch::Tensor& update) {
  const auto u = update.to(torch::kFloat64);
  return ((1 + u) / (10 + u)).clamp_max(decay);
}

void MovingAverage::add(std::int64_t begin, const torch::Tensor& weights,
                        const torch::Tensor& update, const torch::Tensor& made) {
  const torch::NoGradGuard no_grad;
  const auto fraction = (1 - average_decay(decay, update)) * made;
  values.narrow(0, begin, weights.numel()).lerp_(weights, fraction.to(torch::kFloat32));
}

}  // namespace dragoman
