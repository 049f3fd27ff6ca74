// The arguments of the kernels in kernels/cuda/column_sums.cu, for the program's compiler and
// CUDA's.
#pragma once

#include "kernels/cuda/dropout.h"

namespace dragoman {

inline constexpr unsigned kCudaMostParts = 64;

/// Matrices [rows, columns] side by side as one, [rows, part_count * columns], and sums of its
/// columns over each `rows_per_sum` rows. With `kept` (CudaDropout) there is one matrix, the
/// gradient of dropout(relu(x)): the kernel sets elements that were not kept to 0, and multiplies
/// the others by `scale`.
/// On the GPU. The kernel has cuda_blocks_of_row() blocks of kCudaColumnSumsThreads for each sum.
struct CudaColumnSums {
  const void* parts[kCudaMostParts];
  const unsigned char* kept;  ///< null: all, and no scale
  void* joined;               ///< may be the only part
  float* sums;                ///< [rows / rows_per_sum rounded up, part_count * columns]
  unsigned rows, columns, part_count, rows_per_sum;
  float scale;
};

/// sums[c] of column c = m * columns + i is the sum of stretches[m][stretch][i] over all stretches,
/// in one order. stretches [columns_in_all / columns, count, columns], on the GPU. The kernel has a
/// block of kCudaSumThreads for every kCudaColumnsOfSums columns.
struct CudaStretchSums {
  const float* stretches;
  void* sums;
  unsigned columns_in_all, count, columns;
};

inline constexpr unsigned kCudaRowsOfSum = 32;
inline constexpr unsigned kCudaColumnSumsThreads = 256;
inline constexpr unsigned kCudaColumnsOfSums = 32, kCudaSumThreads = 1024;

#ifndef __CUDACC__  // NVRTC refuses functions of the host
constexpr unsigned cuda_blocks_of_row(unsigned parts, unsigned columns, unsigned threads) {
  const unsigned threads_of_row = parts * ((columns + kCudaColumns - 1) / kCudaColumns);
  return (threads_of_row + threads - 1) / threads;
}
#endif

}  // namespace dragoman
