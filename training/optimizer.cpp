#include "training/optimizer.h"

#include <ATen/ops/_fused_adamw.h>

namespace dragoman {

Adam::Adam(const AdamConfig& config, const torch::Tensor& parameters)
    : config(config),
      first_moment(torch::zeros_like(parameters)),
      second_moment(torch::zeros_like(parameters)),
      steps(torch::zeros({}, parameters.options().dtype(torch::kFloat32))) {}

void Adam::begin_step() {
  const torch::NoGradGuard no_grad;
  steps += 1;
}

void Adam::step_block(std::int64_t begin, torch::Tensor parameters, const torch::Tensor& gradient,
                      double learning_rate) {
  const torch::NoGradGuard no_grad;
  const std::int64_t size = parameters.numel();
  at::_fused_adamw_({parameters}, {gradient}, {first_moment.narrow(0, begin, size)},
                    {second_moment.narrow(0, begin, size)}, {}, {steps}, learning_rate,
                    config.beta1, config.beta2, config.weight_decay, config.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace dragoman
