// The arguments of the kernels in kernels/cuda/embedding.cu, for the program's compiler and CUDA's.
#pragma once

#include "kernels/cuda/dropout.h"

namespace dragoman {

/// y = dropout(scale * weight[token] + encodings[position]) for each row, on the GPU; a negative
/// token has the zero vector in the place of its weights. The kernel has a thread for every
/// kCudaColumns columns of a row.
struct CudaEmbedding {
  const long long *tokens, *positions;  ///< [rows]
  const void *weight, *encodings;       ///< [any, columns]
  void* y;                              ///< [rows, columns]
  unsigned rows, columns;
  float scale;
  CudaDropoutRule rule;  ///< nothing may be dropped
};

/// d_weight[v] = scale times the sum of dropout(dy) over the rows with token v, in one order; zero
/// if there is none. On the GPU. The kernel has a block of cuda_embedding_threads() for each row. A
/// row has at most kCudaMostEmbeddingColumns columns.
struct CudaEmbeddingGradient {
  const void* dy;           ///< [rows, columns]
  const long long* tokens;  ///< [rows], sorted
  const long long* order;   ///< [rows]: the row of dy that each belongs to
  void* d_weight;           ///< [vocabulary, columns]
  unsigned rows, columns, vocabulary;
  float scale;
  CudaDropoutRule rule;
};

inline constexpr unsigned kCudaEmbeddingThreads = 256;
inline constexpr unsigned kCudaMostEmbeddingColumns = kCudaEmbeddingThreads * kCudaColumns;

#ifndef __CUDACC__  // NVRTC refuses functions of the host
/// As many times the threads of a row as fit, so that a frequent token's rows are added side by
/// side.
constexpr unsigned cuda_embedding_threads(unsigned columns) {
  const unsigned of_row = (columns + kCudaColumns - 1) / kCudaColumns;
  return kCudaEmbeddingThreads / of_row * of_row;
}
#endif

}  // namespace dragoman
