// The arguments of the kernel in kernels/cuda/decision.cu, for the program's compiler and CUDA's.
#pragma once

#include "kernels/cuda/adam.h"

namespace dragoman {

/// As decide() (training/step.h), on the GPU, by one thread.
struct CudaDecision {
  const double* numbers;       ///< StepNumbers::values()
  const float* gradient_norm;  ///< of the sum over target tokens
  const double* losses;        ///< [loss_count]; may be null if `means` is
  int loss_count, all_losses;  ///< the others of [all_losses] are 0
  double* means;               ///< SpikeLimits::means(); null: no limits
  double spike_factor, updates_of_means;
  double clip_norm;      ///< 0: no clipping
  double average_decay;  ///< 0: no moving average
  double beta1, beta2, weight_decay;
  float* steps;           ///< of Adam
  CudaStepNumbers* step;  ///< for kernels/cuda/adam.cu
  double* result;         ///< [all_losses + 2]: StepResult::values
};

}  // namespace dragoman
