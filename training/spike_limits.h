// The limits of divergence.h as tensors on the model's device: an update that is to be left out is
// left out there, before the host knows of it.
#pragma once

#include <torch/types.h>

#include "training/divergence.h"

namespace dragoman {

/// The means of a LossHistory. All tensors are scalars on the device, fp64 unless said otherwise.
class SpikeLimits {
 public:
  SpikeLimits(const LossHistory& history, double spike_factor, torch::Device device);

  /// max_gradient_norm(), or 0, which lets no gradient pass, where the loss is_spike().
  torch::Tensor max_gradient_norm(const torch::Tensor& loss) const;
  /// note_made() where `made` (bool) is true.
  void note(const torch::Tensor& loss, const torch::Tensor& gradient_norm,
            const torch::Tensor& made);

 private:
  double spike_factor_;
  torch::Tensor updates_, loss_, gradient_norm_;
};

}  // namespace dragoman
