// The losses of a batch while they stand on the model's device.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/batch_loss.h"

namespace dragoman {

/// A BatchLoss that the host has not read. Sums of it, and an update made with it, wait for
/// nothing.
struct DeviceLoss {
  /// [4] fp64: smoothed, negative_log_likelihood, alignment and linked_tokens of BatchLoss.
  /// Undefined: all are 0.
  torch::Tensor sums;
  std::int64_t source_tokens = 0, target_tokens = 0;

  torch::Tensor smoothed() const { return sums.select(0, 0); }  ///< scalar
  DeviceLoss& operator+=(const DeviceLoss& other);
  /// Waits for the device.
  BatchLoss read() const;
};

/// `sums` [4] on the CPU, the other members of `loss`.
BatchLoss batch_loss(const DeviceLoss& loss, const double* sums);

}  // namespace dragoman
