// The arguments of the kernels in kernels/cuda/add_norm.cu, for the program's compiler and CUDA's.
#pragma once

#include "kernels/cuda/dropout.h"

namespace dragoman {

/// As NormArguments (kernels/kernels.h), on the GPU. The kernel has a block for each row, with
/// cuda_threads_of_row() threads. A row has at most kCudaMostColumns columns.
struct CudaAddNorm {
  const void* x;
  const void* residual;  ///< null: zero
  const void *gain, *bias;
  void* sum;  ///< null if there is neither residual nor dropout: x
  void* y;
  float *means, *inverse_deviations;  ///< [rows]; null if there is no backward pass
  unsigned rows, columns;
  float epsilon;
  CudaDropoutRule rule;
};

/// As NormGradientArguments, on the GPU. A block takes `rows_per_sum` rows, and writes their sums.
struct CudaAddNormGradient {
  const void* dy;
  const void* dy_again;         ///< of a second use of y, to be added to dy; null: zero
  const void* d_sum_elsewhere;  ///< null: zero
  const void* sum;
  const void* gain;
  const float *means, *inverse_deviations;
  void* d_sum;
  void* d_x;  ///< null if there is no dropout: the same as d_sum
  /// [blocks, columns]. x_sums are the sums of d_x's rows, the gradient of the bias of the linear
  /// layer whose output x is.
  float *d_gain, *d_bias, *x_sums;
  unsigned rows, columns, rows_per_sum;
  CudaDropoutRule rule;
};

inline constexpr unsigned kCudaMostColumns = 8192;

#ifndef __CUDACC__  // NVRTC refuses functions of the host
/// Whole warps.
constexpr unsigned cuda_threads_of_row(unsigned columns) {
  return (columns + 32 * kCudaColumns - 1) / (32 * kCudaColumns) * 32;
}
#endif

}  // namespace dragoman
