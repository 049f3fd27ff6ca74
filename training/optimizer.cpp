#include "training/optimizer.h"

#include <ATen/ops/_fused_adamw.h>

namespace dragoman {

Adam::Adam(const AdamConfig& config, const torch::Tensor& parameters)
    : config(config),
      first_moment(torch::zeros_like(parameters)),
      second_moment(torch::zeros_like(parameters)),
      steps(torch::zeros({}, parameters.options().dtype(torch::kFloat32))),
      rate_(torch::zeros(
          {}, steps.options().dtype(parameters.is_cpu() ? torch::kFloat64 : torch::kFloat32))),
      left_out_(torch::zeros_like(steps)) {}

void Adam::begin_step(const torch::Tensor& made, const torch::Tensor& learning_rate) {
  const torch::NoGradGuard no_grad;
  steps += made;
  left_out_.copy_(made.logical_not());
  rate_.copy_(learning_rate);
}

void Adam::step_block(std::int64_t begin, torch::Tensor parameters, const torch::Tensor& gradient) {
  const torch::NoGradGuard no_grad;
  const std::int64_t size = parameters.numel();
  at::_fused_adamw_({parameters}, {gradient}, {first_moment.narrow(0, begin, size)},
                    {second_moment.narrow(0, begin, size)}, {}, {steps}, rate_, config.beta1,
                    config.beta2, config.weight_decay, config.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false, /*grad_scale=*/{}, left_out_);
}

}  // namespace dragoman
