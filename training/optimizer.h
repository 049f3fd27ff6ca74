// The optimizer (section 5.3): the learning rate as a pure function of the update's number, Adam
// (Kingma and Ba 2015) with decoupled weight decay (Loshchilov and Hutter 2019), and a moving
// average of the weights. Weights, gradients and moments are flat buffers (flat_parameters.h).
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/settings/train_config.h"

namespace dragoman {

struct Schedule {
  LrScheduler scheduler = LrScheduler::InverseSqrt;
  double peak = 5e-4;          ///< --lr; for noam the factor before equation 3
  std::int64_t warmup = 4000;  ///< updates of linear increase
  std::int64_t end = 0;        ///< update at which cosine, linear and wsd reach `floor`
  std::int64_t cooldown = 0;   ///< update at which the rate of wsd begins to fall; 0: not yet known
  double floor = 0;            ///< --min-lr
  std::int64_t d_model = 512;  ///< for noam
};

/// The learning rate of update 1, 2, ...:
/// inverse-sqrt: peak * min(u / warmup, sqrt(warmup / u)), after warm-up at least `floor`;
/// noam, equation 3: peak * d_model^-0.5 * min(u^-0.5, u * warmup^-1.5);
/// cosine and linear: to the peak by `warmup`, then down to `floor` at `end`;
/// wsd (warm-up, stable, decay): to the peak by `warmup`, the peak until `cooldown`, then
/// floor + (peak - floor) * (1 - sqrt((u - cooldown) / (end - cooldown))), the "1-sqrt" cooldown of
/// Hägele et al. 2024, "Scaling laws and compute-optimal training beyond fixed training durations".
double learning_rate(const Schedule& schedule, std::int64_t update);

struct AdamConfig {
  double beta1 = 0.9, beta2 = 0.98, epsilon = 1e-9, weight_decay = 0;
};

/// What a step on a GPU changes besides the moments, and the gradient: flat buffers.
struct StepBuffers {
  torch::Tensor weights, gradient;     ///< [P] fp32
  torch::Tensor average = {};          ///< [P] fp32, of a MovingAverage; undefined: there is none
  torch::Tensor compute_weights = {};  ///< [P] bf16, the weights once more; undefined: not needed
};

/// Adam: by our kernel on a GPU that has it, otherwise by LibTorch's fused step, once for each
/// block of the parameters. A checkpoint holds the moments and the number of steps.
struct Adam {
  AdamConfig config;
  torch::Tensor first_moment, second_moment;  ///< [P] fp32
  torch::Tensor steps;                        ///< scalar fp32: without updates left out
  // Scalars of LibTorch's step, each at one address:
  torch::Tensor rate;      ///< fp64 on the CPU, fp32 elsewhere, as the fused step takes it
  torch::Tensor left_out;  ///< fp32: 1 if the update is not made, else 0

  Adam(const AdamConfig& config, const torch::Tensor& parameters);
  /// Counts an update that is `made` (bool scalar) and sets its learning rate (fp64 scalar). Then
  /// comes step_block() for each block of the parameters. Neither waits for a device.
  void begin_step(const torch::Tensor& made, const torch::Tensor& learning_rate);
  /// Updates parameters [begin, begin + p) if the update is made. `parameters` and `gradient` are
  /// that block, [p] fp32. Several threads may update different blocks at the same time.
  void step_block(std::int64_t begin, torch::Tensor parameters, const torch::Tensor& gradient);
  /// The step of all parameters, their moving average and their copy in bf16 in one pass, if
  /// decide() has made `numbers` (Decision::step_numbers) for it.
  void step_by_kernel(const torch::Tensor& numbers, const StepBuffers& buffers);
};

/// The exponential moving average of the weights, with a warm-up: after update u (from 1)
/// average += (1 - d) * (weights - average), d = min(decay, (1 + u) / (10 + u)), so that the first
/// updates are soon forgotten. Marian's --exponential-smoothing 1e-4 is decay 0.9999.
struct MovingAverage {
  double decay;
  torch::Tensor values;  ///< [P] fp32, flat like the weights

  /// Call it after each update. Adds `weights` [p] fp32, the elements from `begin` on;
  /// `fraction` is average_fraction() of the update.
  void add(std::int64_t begin, const torch::Tensor& weights, const torch::Tensor& fraction);
};

/// The value of d after update 1, 2, ...: fp64, a scalar like `update`.
torch::Tensor average_decay(double decay, const torch::Tensor& update);
/// 1 - d after that update if it is `made` (bool scalar), else 0: a scalar fp32.
torch::Tensor average_fraction(double decay, const torch::Tensor& update,
                               const torch::Tensor& made);

}  // namespace dragoman
