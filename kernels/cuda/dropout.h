// The arguments of the kernels in kernels/cuda/dropout.cu. The program's compiler and CUDA's read
// this header, and CUDA's may lack the standard library: so it includes nothing.
#pragma once

namespace dragoman {

/// DropoutRule (kernels/kernels.h), which says what is dropped.
struct CudaDropoutRule {
  const int* row_keys;  ///< on the GPU; null: nothing is dropped
  unsigned site, threshold, heads, queries;
  float scale;
};

/// y = residual + dropout(x), with `relu` y = residual + dropout(relu(x)). [rows, columns] each, on
/// the GPU; y may be x or residual. Row keys must be there. The kernel has a thread for every
/// kCudaColumns columns of a row.
struct CudaDropout {
  const void* x;
  const void* residual;  ///< null: zero
  void* y;
  unsigned rows, columns;
  bool relu;
  CudaDropoutRule rule;
};

/// Gradient of dropout(relu(x)), from only its output: dx = y > 0 ? dy * scale : 0. `count`
/// elements each, on the GPU; dx may be dy. The kernel has a thread for every kCudaColumns
/// elements.
struct CudaReluDropoutGradient {
  const void *y, *dy;
  void* dx;
  long long count;
  float scale;
};

inline constexpr unsigned kCudaColumns = 8;

}  // namespace dragoman
