// The arguments of the kernels in kernels/cuda/loss.cu, for the program's compiler and CUDA's.
#pragma once

namespace dragoman {

/// As LossArguments (kernels/kernels.h), on the GPU. The kernel has a block of kCudaLossThreads for
/// each row.
struct CudaLoss {
  void* logits;  ///< [rows, columns]
  const long long* targets;
  float* losses;
  float* negative_log_likelihoods;
  unsigned rows, columns;
  float smoothing;
};

inline constexpr unsigned kCudaLossThreads = 256;

}  // namespace dragoman
