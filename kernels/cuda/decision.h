// The arguments of the kernel in kernels/cuda/decision.cu. The program's compiler and CUDA's read
// this header, and CUDA's may lack the standard library: so it includes nothing.
#pragma once

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
  float* steps;          ///< of Adam, as is what follows
  float* learning_rate;
  float* left_out;
  float* divisor;           ///< of the gradient
  float* average_fraction;  ///< may be null if there is no average
  double* result;           ///< [all_losses + 2]: StepResult::values
};

}  // namespace dragoman
