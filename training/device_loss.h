// The losses of a batch while they stand on the model's device.
#pragma once

#include <torch/types.h>

#include <cstdint>

#include "training/batch_loss.h"

namespace dragoman {

/// The place of each loss of BatchLoss in DeviceLoss::values.
struct LossIndex {
  static constexpr std::int64_t kSmoothed = 0, kNegativeLogLikelihood = 1, kAlignment = 2,
                                kLinkedTokens = 3;
  static constexpr std::int64_t kCount = 4;
};

/// A BatchLoss that the host has not read. Sums of it, and an update made with it, wait for
/// nothing.
struct DeviceLoss {
  torch::Tensor values;  ///< [LossIndex::kCount] fp64; undefined: all are 0
  std::int64_t source_tokens = 0, target_tokens = 0;

  torch::Tensor smoothed() const { return values.select(0, LossIndex::kSmoothed); }  ///< scalar
  DeviceLoss& operator+=(const DeviceLoss& other);
  /// Waits for the device.
  BatchLoss read() const;
};

/// `values` [LossIndex::kCount] on the CPU, the other members of `loss`.
BatchLoss batch_loss(const DeviceLoss& loss, const double* values);

}  // namespace dragoman
