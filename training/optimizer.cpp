#include "training/optimizer.h"

#include <ATen/ops/_fused_adamw.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/cuda/adam.h"
#include "model/ops/cuda_kernels.h"

namespace dragoman {

double learning_rate(const Schedule& s, std::int64_t update) {
  const double u = static_cast<double>(std::max<std::int64_t>(1, update));
  const double warmup = static_cast<double>(std::max<std::int64_t>(1, s.warmup));
  if (s.scheduler == LrScheduler::Noam)
    return s.peak * std::pow(static_cast<double>(s.d_model), -0.5) *
           std::min(std::pow(u, -0.5), u * std::pow(warmup, -1.5));
  if (u < warmup) return s.peak * u / warmup;
  if (s.scheduler == LrScheduler::InverseSqrt)
    return std::max(s.floor, s.peak * std::sqrt(warmup / u));
  if (s.scheduler == LrScheduler::Wsd) {
    if (s.cooldown == 0 || update <= s.cooldown) return s.peak;
    const double length = static_cast<double>(std::max<std::int64_t>(1, s.end - s.cooldown));
    const double progress = std::min(1.0, static_cast<double>(update - s.cooldown) / length);
    return s.floor + (s.peak - s.floor) * (1 - std::sqrt(progress));
  }
  const double span = std::max(1.0, static_cast<double>(s.end) - warmup);
  const double progress = std::min(1.0, (u - warmup) / span);
  const double fraction = s.scheduler == LrScheduler::Cosine
                              ? (1 + std::cos(std::numbers::pi * progress)) / 2
                              : 1 - progress;
  return s.floor + (s.peak - s.floor) * fraction;
}

Adam::Adam(const AdamConfig& config, const torch::Tensor& parameters)
    : config(config),
      first_moment(torch::zeros_like(parameters)),
      second_moment(torch::zeros_like(parameters)),
      steps(torch::zeros({}, parameters.options().dtype(torch::kFloat32))),
      rate(torch::zeros(
          {}, steps.options().dtype(parameters.is_cpu() ? torch::kFloat64 : torch::kFloat32))),
      left_out(torch::zeros_like(steps)) {}

void Adam::begin_step(const torch::Tensor& made, const torch::Tensor& learning_rate) {
  const torch::NoGradGuard no_grad;
  steps += made;
  left_out.copy_(made.logical_not());
  rate.copy_(learning_rate);
}

void Adam::step_block(std::int64_t begin, torch::Tensor parameters, const torch::Tensor& gradient) {
  const torch::NoGradGuard no_grad;
  const std::int64_t size = parameters.numel();
  at::_fused_adamw_({parameters}, {gradient}, {first_moment.narrow(0, begin, size)},
                    {second_moment.narrow(0, begin, size)}, {}, {steps}, rate, config.beta1,
                    config.beta2, config.weight_decay, config.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false, {}, left_out);
}

void Adam::step_by_kernel(const torch::Tensor& numbers, const StepBuffers& buffers) {
  const std::int64_t count = buffers.weights.numel();
  TORCH_CHECK(count % kCudaColumns == 0, "the number of parameters is not a multiple of ",
              kCudaColumns);
  const auto address = [](const torch::Tensor& buffer) {
    return buffer.defined() ? buffer.mutable_data_ptr() : nullptr;
  };
  const CudaAdam arguments{.numbers = static_cast<const CudaStepNumbers*>(numbers.const_data_ptr()),
                           .gradient = buffers.gradient.const_data_ptr<float>(),
                           .weights = buffers.weights.mutable_data_ptr<float>(),
                           .first_moment = first_moment.mutable_data_ptr<float>(),
                           .second_moment = second_moment.mutable_data_ptr<float>(),
                           .average = static_cast<float*>(address(buffers.average)),
                           .bfloat16_weights = address(buffers.compute_weights),
                           .count = count,
                           .first_fraction = static_cast<float>(1 - config.beta1),
                           .second_decay = static_cast<float>(config.beta2),
                           .second_fraction = static_cast<float>(1 - config.beta2),
                           .epsilon = static_cast<float>(config.epsilon)};
  launch_cuda_kernel("adam", buffers.weights, blocks_of(count / kCudaColumns), &arguments);
}

torch::Tensor average_decay(double decay, const torch::Tensor& update) {
  const auto u = update.to(torch::kFloat64);
  return ((1 + u) / (10 + u)).clamp_max(decay);
}

torch::Tensor average_fraction(double decay, const torch::Tensor& update,
                               const torch::Tensor& made) {
  return ((1 - average_decay(decay, update)) * made).to(torch::kFloat32);
}

void MovingAverage::add(std::int64_t begin, const torch::Tensor& weights,
                        const torch::Tensor& fraction) {
  const torch::NoGradGuard no_grad;
  values.narrow(0, begin, weights.numel()).lerp_(weights, fraction);
}

}  // namespace dragoman
