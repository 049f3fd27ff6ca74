// The arguments of the kernels in kernels/cuda/step_attention.cu, for the program's compiler and
// CUDA's.
#pragma once

namespace dragoman {

/// softmax(q K^T / sqrt(d_k)) V of a step, in which each row has one query. Keys and values stand
/// in a cache; those of the row's own token are written there first. The kernel has a block of
/// kCudaStepAttentionThreads for each head of each row.
struct CudaStepAttention {
  const void* queries;                ///< [rows, heads * d_k], rows `stride` apart
  const void *new_keys, *new_values;  ///< of the rows' tokens, likewise; null: nothing is written
  void *keys, *values;                ///< [sequences, columns, heads * d_k]
  void* attended;                     ///< [rows, heads * d_k]
  /// The sequence of column t of row r is r - r % width + ancestors[r][t]; null: r /
  /// rows_of_sequence.
  const int* ancestors;        ///< [rows, ancestor_columns]
  const long long* positions;  ///< [rows] of the rows' tokens; columns up to this one are attended
                               ///< to; null: see lengths
  const long long* lengths;    ///< [sequences]: how many columns are attended to
  unsigned rows, heads, d_k, stride, columns, ancestor_columns, width, rows_of_sequence;
  float scale;  ///< 1 / sqrt(d_k)
};

inline constexpr unsigned kCudaStepAttentionThreads = 32;
inline constexpr unsigned kCudaMostStepHead = 256;  ///< the largest d_k

}  // namespace dragoman
