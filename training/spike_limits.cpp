#include "training/spike_limits.h"

#include <limits>

namespace dragoman {

SpikeLimits::SpikeLimits(const LossHistory& history, double spike_factor, torch::Device device)
    : spike_factor_(spike_factor) {
  const auto scalar = [&](double value) {  // stays at one address
    return torch::full({}, value, torch::TensorOptions(torch::kFloat64).device(device));
  };
  updates_ = scalar(static_cast<double>(history.updates));
  loss_ = scalar(history.loss);
  gradient_norm_ = scalar(history.gradient_norm);
}

torch::Tensor SpikeLimits::max_gradient_norm(const torch::Tensor& loss) const {
  const auto unlimited = torch::full_like(loss, std::numeric_limits<double>::max());
  const auto passes = [&](const torch::Tensor& is_trusted, const torch::Tensor& limit) {
    return torch::where(is_trusted, limit, torch::zeros_like(limit));
  };
  if (spike_factor_ == 0) return passes(loss.isfinite(), unlimited);
  const auto has_limits = updates_ >= static_cast<double>(kUpdatesOfMeans);
  const auto within = [&](const torch::Tensor& mean) {
    return torch::where(has_limits, mean * spike_factor_, unlimited);
  };
  return passes(loss.isfinite() & (loss <= within(loss_)), within(gradient_norm_));
}

void SpikeLimits::note(const torch::Tensor& loss, const torch::Tensor& gradient_norm,
                       const torch::Tensor& made) {
  updates_ += made;
  const auto fraction = updates_.clamp_max(static_cast<double>(kUpdatesOfMeans)).reciprocal();
  const auto follow = [&](torch::Tensor& mean, const torch::Tensor& value) {
    mean.copy_(torch::where(made, mean + fraction * (value - mean), mean));
  };
  follow(loss_, loss);
  follow(gradient_norm_, gradient_norm);
}

}  // namespace dragoman
