// The exponential moving average of the weights over the updates, with a warm-up: after update u
// (from 1) average += (1 - d) * (weights - average), d = min(decay, (1 + u) / (10 + u)), so that
// the first updates are soon forgotten. Marian's --exponential-smoothing 1e-4 is decay 0.9999.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace dragoman {

/// The value of d for update 1, 2, ...: a scalar fp64 like `update`.
torch::Tensor average_decay(double decay, const torch::Tensor& update);

struct MovingAverage {
  double decay;
  torch::Tensor values;  ///< [P] fp32, flat like the weights

  /// Called after update 1, 2, ... (a scalar): adds `weights` [p] fp32, the elements from `begin`
  /// on, where the update is `made` (bool scalar).
  void add(std::int64_t begin, const torch::Tensor& weights, const torch::Tensor& update,
           const torch::Tensor& made);
};

}  // namespace dragoman
