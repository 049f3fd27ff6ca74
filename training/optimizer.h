// Adam (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), section 5.3,
// on flat buffers: LibTorch's fused step, once for each block.
#pragma once

#include <torch/types.h>

namespace dragoman {

struct AdamConfig {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
};

/// Buffers of the optimizer, each as long as the parameters; stored in checkpoints.
struct Adam {
  AdamConfig config;
  torch::Tensor first_moment, second_moment;  ///< [P] fp32
  torch::Tensor steps;                        ///< scalar fp32: steps, without updates left out

  Adam(const AdamConfig& config, const torch::Tensor& parameters);
  /// Counts an update that is `made` (bool scalar), with a learning rate (fp64 scalar);
  /// step_block() follows for each block of the parameters. Like step_block() it waits for no
  /// device but the CPU.
  void begin_step(const torch::Tensor& made, const torch::Tensor& learning_rate);
  /// Updates parameters [begin, begin + p), where the update is made. `parameters` and `gradient`
  /// are that block, [p] fp32. Several threads may update different blocks at the same time.
  void step_block(std::int64_t begin, torch::Tensor parameters, const torch::Tensor& gradient);

 private:
  torch::Tensor rate_;      // scalar: fp64 on the CPU, fp32 elsewhere, as the fused step takes it
  torch::Tensor left_out_;  // scalar fp32: 1 where the update is not made, else 0
};

}  // namespace dragoman
