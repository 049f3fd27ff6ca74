#include "training/step.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cuda/decision.h"
#include "model/ops/cuda_kernels.h"

namespace dragoman {

namespace {

torch::TensorOptions doubles(torch::Device device) {
  return torch::TensorOptions(torch::kFloat64).device(device);
}

/// Puts the values at `address`. The current stream copies them, after all work that it was given
/// before.
void put(const std::vector<double>& values, torch::Tensor& address) {
  const auto count = std::ssize(values);
  auto here =
      torch::empty({count}, torch::TensorOptions(torch::kFloat64).pinned_memory(address.is_cuda()));
  std::copy(values.begin(), values.end(), here.mutable_data_ptr<double>());
  address.copy_(here, /*non_blocking=*/true);
}

}  // namespace

// ---- updates that are left out ------------------------------------------------------------------

SpikeLimits::SpikeLimits(const LossHistory& history, double spike_factor, torch::Device device)
    : spike_factor_(spike_factor), means_(torch::empty({3}, doubles(device))) {
  continue_from(history);
}

void SpikeLimits::continue_from(const LossHistory& history) {
  put({static_cast<double>(history.updates), history.loss, history.gradient_norm}, means_);
}

torch::Tensor SpikeLimits::allow(const torch::Tensor& loss, const torch::Tensor& norm) const {
  if (spike_factor_ == 0) return loss.isfinite();
  const auto has_limits = means_[0] >= static_cast<double>(kUpdatesOfMeans);
  const auto unlimited = torch::full_like(loss, std::numeric_limits<double>::max());
  const auto is_within = [&](const torch::Tensor& value, const torch::Tensor& mean) {
    return value <= torch::where(has_limits, mean * spike_factor_, unlimited);
  };
  return loss.isfinite() & is_within(loss, means_[1]) & is_within(norm, means_[2]);
}

void SpikeLimits::note(const torch::Tensor& loss, const torch::Tensor& gradient_norm,
                       const torch::Tensor& made) {
  auto updates = means_[0];
  updates += made;
  const auto fraction = updates.clamp_max(static_cast<double>(kUpdatesOfMeans)).reciprocal();
  const auto follow = [&](torch::Tensor mean, const torch::Tensor& value) {
    mean.copy_(torch::where(made, mean + fraction * (value - mean), mean));
  };
  follow(means_[1], loss);
  follow(means_[2], gradient_norm);
}

// ---- the decision -------------------------------------------------------------------------------

StepNumbers::StepNumbers(torch::Device device) : values_(torch::empty({3}, doubles(device))) {}

void StepNumbers::set(std::int64_t target_tokens, double learning_rate) {
  const auto tokens = static_cast<double>(target_tokens);
  put({tokens, 1 / tokens, learning_rate}, values_);
}

namespace {

Decision decide_by_operations(const DecisionInput& in, Adam& adam) {
  const auto weight = in.numbers.token_weight();
  const auto norm = in.gradient_norm.to(torch::kFloat64) * weight;
  auto made = norm.isfinite();
  if (in.limits != nullptr) {
    const auto loss = in.losses[LossIndex::kSmoothed] / in.numbers.target_tokens();
    made = made & in.limits->allow(loss, norm);
    in.limits->note(loss, norm, made);
  }
  Decision decision{.result = {torch::zeros({StepResult::kCount}, norm.options())},
                    .factor = weight};
  if (in.clip_norm > 0)
    decision.factor = torch::where(norm > in.clip_norm, weight * in.clip_norm / norm, weight);
  adam.begin_step(made, in.numbers.learning_rate());
  if (in.average_decay > 0)
    decision.average_fraction = average_fraction(in.average_decay, adam.steps, made);
  auto& values = decision.result.values;
  if (in.losses.defined()) values.narrow(0, 0, in.losses.size(0)).copy_(in.losses);
  values[StepResult::kGradientNorm].copy_(norm);
  values[StepResult::kMade].copy_(made);
  return decision;
}

Decision decide_by_kernel(const DecisionInput& in, Adam& adam, const torch::Tensor& parameters) {
  const Decision decision{
      .result = {torch::empty({StepResult::kCount}, doubles(parameters.device()))},
      .step_numbers =
          torch::empty({sizeof(CudaStepNumbers) / sizeof(float)}, adam.steps.options())};
  const auto norm = in.gradient_norm.to(torch::kFloat32);
  const bool has_losses = in.losses.defined();
  const CudaDecision arguments{
      .numbers = in.numbers.values().const_data_ptr<double>(),
      .gradient_norm = norm.const_data_ptr<float>(),
      .losses = has_losses ? in.losses.const_data_ptr<double>() : nullptr,
      .loss_count = has_losses ? static_cast<int>(in.losses.size(0)) : 0,
      .all_losses = LossIndex::kCount,
      .means = in.limits != nullptr ? in.limits->means().mutable_data_ptr<double>() : nullptr,
      .spike_factor = in.limits != nullptr ? in.limits->spike_factor() : 0,
      .updates_of_means = kUpdatesOfMeans,
      .clip_norm = in.clip_norm,
      .average_decay = in.average_decay,
      .beta1 = adam.config.beta1,
      .beta2 = adam.config.beta2,
      .weight_decay = adam.config.weight_decay,
      .steps = adam.steps.mutable_data_ptr<float>(),
      .step = static_cast<CudaStepNumbers*>(decision.step_numbers.mutable_data_ptr()),
      .result = decision.result.values.mutable_data_ptr<double>()};
  launch_cuda_kernel("decide", adam.steps, {1, 1}, &arguments);
  return decision;
}

}  // namespace

Decision decide(const DecisionInput& in, Adam& adam, const torch::Tensor& parameters) {
  return has_cuda_kernel_for(parameters) ? decide_by_kernel(in, adam, parameters)
                                         : decide_by_operations(in, adam);
}

}  // namespace dragoman
