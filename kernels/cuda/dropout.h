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
  /// With `relu`: [rows, columns / 8 rounded up], the bits of the elements of y that are above 0,
  /// the first column's lowest; the backward pass (CudaColumnSums) reads them in the place of y.
  unsigned char* kept;
  unsigned rows, columns;
  bool relu;
  CudaDropoutRule rule;
};

inline constexpr unsigned kCudaColumns = 8;

#ifndef __CUDACC__  // NVRTC refuses functions of the host
/// `Rule` is DropoutRule, whose header CUDA's compilers cannot read.
template <class Rule>
CudaDropoutRule on_cuda(const Rule& rule) {
  return {rule.row_keys,
          rule.site,
          rule.threshold,
          static_cast<unsigned>(rule.heads),
          static_cast<unsigned>(rule.queries),
          rule.scale()};
}
#endif

}  // namespace dragoman
