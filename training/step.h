// What becomes of an update, decided on the model's device before the host knows of it: whether it
// is made, how its gradient is scaled, and the numbers that Adam and the moving average take. One
// kernel decides on a GPU (kernels/cuda/decision.cu); elsewhere tensor operations do.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/optimizer.h"
#include "training/settings/divergence.h"

namespace dragoman {

/// The place of each loss of BatchLoss among the values of a DeviceLoss.
struct LossIndex {
  static constexpr std::int64_t kSmoothed = 0, kNegativeLogLikelihood = 1, kAlignment = 2,
                                kLinkedTokens = 3;
  static constexpr std::int64_t kCount = 4;
};

/// An update is left out if its loss is not finite or above `spike_factor` times the mean, or if
/// its gradient's norm is above `spike_factor` times the mean norm. Before 50 updates, or if the
/// factor is 0, only a loss that is not finite counts. This has the means of a LossHistory on the
/// model's device.
class SpikeLimits {
 public:
  SpikeLimits(const LossHistory& history, double spike_factor, torch::Device device);

  /// Takes the means of a history. They stay at their address.
  void continue_from(const LossHistory& history);
  double spike_factor() const { return spike_factor_; }
  /// [3] fp64: updates that were made, mean loss, mean norm.
  const torch::Tensor& means() const { return means_; }

  /// Whether a loss and a gradient's norm (scalars fp64) are within the limits: bool.
  torch::Tensor allow(const torch::Tensor& loss, const torch::Tensor& gradient_norm) const;
  /// As note_made(), if `made` (bool) is true.
  void note(const torch::Tensor& loss, const torch::Tensor& gradient_norm,
            const torch::Tensor& made);

 private:
  double spike_factor_;
  torch::Tensor means_;
};

/// An update's losses, the norm of its gradient before clipping, and whether it was made: on the
/// model's device.
struct StepResult {
  static constexpr std::int64_t kGradientNorm = LossIndex::kCount, kMade = kGradientNorm + 1;
  static constexpr std::int64_t kCount = kMade + 1;

  torch::Tensor values;  ///< [kCount] fp64: those of a DeviceLoss, norm, 1 if made

  torch::Tensor gradient_norm() const { return values.select(0, kGradientNorm); }  ///< scalar
  torch::Tensor made() const { return values.select(0, kMade); }                   ///< scalar
};

/// The numbers of the host that differ from update to update, on a device. They stay at their
/// address.
class StepNumbers {
 public:
  explicit StepNumbers(torch::Device device);

  /// Does not wait for the device.
  void set(std::int64_t target_tokens, double learning_rate);
  torch::Tensor target_tokens() const { return values_.select(0, 0); }  ///< scalars fp64
  torch::Tensor token_weight() const { return values_.select(0, 1); }   ///< 1 / target tokens
  torch::Tensor learning_rate() const { return values_.select(0, 2); }
  const torch::Tensor& values() const { return values_; }  ///< [3], in this order

 private:
  torch::Tensor values_;
};

struct DecisionInput {
  const StepNumbers& numbers;
  torch::Tensor gradient_norm;  ///< scalar: of the gradient as the sum over target tokens
  torch::Tensor losses;         ///< DeviceLoss::values; undefined if there are no limits
  double clip_norm;             ///< as in StepConfig
  SpikeLimits* limits;          ///< null: only a gradient that is not finite counts
  double average_decay;         ///< of the moving average; 0: there is none
};

struct Decision {
  StepResult result;
  /// For Adam::step_by_kernel(): CudaStepNumbers (kernels/cuda/adam.h). Undefined: the step is made
  /// by operations, and takes the following instead.
  torch::Tensor step_numbers = {};
  torch::Tensor factor = {};            ///< of the gradient: scalar fp64
  torch::Tensor average_fraction = {};  ///< as MovingAverage::add() takes it; undefined without
};

/// Decides, notes the update in the limits, and begins the step of Adam. `parameters` has the
/// device and type of the master weights. Does not wait for a device.
Decision decide(const DecisionInput& in, Adam& adam, const torch::Tensor& parameters);

}  // namespace dragoman
