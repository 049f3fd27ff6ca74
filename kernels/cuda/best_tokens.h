// The arguments of the kernel in kernels/cuda/best_tokens.cu, for the program's compiler and
// CUDA's.
#pragma once

namespace dragoman {

/// The `count` largest numbers of each row, the largest first; of equal ones the smaller column
/// comes first. After the last one that may be taken, the numbers are minus infinity. `never` may
/// be null. The kernel has a block for each row, of whole warps, with at most kCudaBestThreads
/// threads.
struct CudaBestTokens {
  const float* values;         ///< [rows, columns]
  const unsigned char* never;  ///< [ceil(columns / 8)], a bit for each column that is not taken
  long long* tokens;           ///< [rows, count]: columns
  float* best;                 ///< [rows, count]: their numbers, less the row's log_sum
  /// [rows]: log(sum(exp(values))) over all columns. Null: nothing is subtracted.
  float* log_sums;
  unsigned rows, columns, count;
};

/// Each takes kCudaColumns columns at a time.
inline constexpr unsigned kCudaBestThreads = 256;

}  // namespace dragoman
