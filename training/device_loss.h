// The losses of a batch while they stand on the model's device.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/batch_loss.h"

namespace dragoman {

/// The place of each loss of BatchLoss in DeviceLoss::values.
enum LossIndex : std::uint8_t {
  kSmoothed,
  kNegativeLogLikelihood,
  kAlignment,
  kLinkedTokens,
  kLosses,  ///< their number
};

/// A BatchLoss that the host has not read. Sums of it, and an update made with it, wait for
/// nothing.
struct DeviceLoss {
  torch::Tensor values;  ///< [kLosses] fp64, by LossIndex; undefined: all are 0
  std::int64_t source_tokens = 0, target_tokens = 0;

  torch::Tensor smoothed() const { return values.select(0, kSmoothed); }  ///< scalar
  DeviceLoss& operator+=(const DeviceLoss& other);
  /// Waits for the device.
  BatchLoss read() const;
};

/// `values` [kLosses] on the CPU, the other members of `loss`.
BatchLoss batch_loss(const DeviceLoss& loss, const double* values);

}  // namespace dragoman
