// The best next tokens of each row of logits, and the normaliser of its softmax. A block reads its
// row once. Each thread knows the best of its own columns. The best of the row is the best of
// these; the thread whose number was taken then looks for the next one of its columns, in the GPU's
// cache. So a row's numbers are read once and little more, and its ties are decided exactly.
#include "kernels/cuda/best_tokens.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

/// A number and its column.
struct Ranked {
  float value;
  unsigned column;
};
constexpr unsigned kNoColumn = 0xFFFFFFFF;

__device__ inline bool is_better(const Ranked& a, const Ranked& b) {
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

/// The columns of a thread, kColumnsOfThread at a time: work(their numbers, the first one, their
/// count, a bit for each that is never taken).
template <class Work>
__device__ void for_own_columns(const CudaBestTokens& a, const float* row, Work&& work) {
  const bool as_words = a.columns % kColumnsOfThread == 0 && is_aligned(row);
  for (unsigned first = threadIdx.x * kColumnsOfThread; first < a.columns;
       first += blockDim.x * kColumnsOfThread) {
    const unsigned count = columns_from(first, a.columns);
    const unsigned never = a.never == nullptr ? 0U : a.never[first / kColumnsOfThread];
    work(load(row + first, count, as_words), first, count, never);
  }
}

/// The best of the thread's columns that comes after `taken`.
__device__ inline Ranked next_of_thread(const CudaBestTokens& a, const float* row,
                                        const Ranked& taken) {
  Ranked next{-3.4e38F, kNoColumn};
  for_own_columns(a, row, [&](const Elements& x, unsigned first, unsigned count, unsigned never) {
    for (unsigned i = 0; i < kColumnsOfThread; ++i) {
      const Ranked own{x.at[i], first + i};
      if (i < count && (never >> i & 1) == 0 && is_better(taken, own) && is_better(own, next))
        next = own;
    }
  });
  return next;
}

/// The best of the block's threads; all threads get it.
__device__ inline Ranked best_of_block(Ranked own) {
  __shared__ float values[kLanes];
  __shared__ unsigned columns[kLanes];
  for (unsigned distance = kLanes / 2; distance > 0; distance /= 2) {
    const Ranked other{__shfl_xor_sync(0xFFFFFFFF, own.value, static_cast<int>(distance)),
                       __float_as_uint(__shfl_xor_sync(0xFFFFFFFF, __uint_as_float(own.column),
                                                       static_cast<int>(distance)))};
    if (is_better(other, own)) own = other;
  }
  if (blockDim.x == kLanes) return own;
  const unsigned warp = threadIdx.x / kLanes;
  if (threadIdx.x % kLanes == 0) {
    values[warp] = own.value;
    columns[warp] = own.column;
  }
  __syncthreads();
  own = {values[0], columns[0]};
  for (unsigned w = 1; w < blockDim.x / kLanes; ++w) {
    const Ranked other{values[w], columns[w]};
    if (is_better(other, own)) own = other;
  }
  __syncthreads();  // the next call writes here
  return own;
}

__device__ inline void best_tokens(const CudaBestTokens& a) {
  const float* const row = a.values + static_cast<unsigned long long>(blockIdx.x) * a.columns;
  ExponentialSum exponentials;
  Ranked own{-3.4e38F, kNoColumn};
  for_own_columns(a, row, [&](const Elements& x, unsigned first, unsigned count, unsigned never) {
    exponentials.add(x, count);
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      if (i < count && (never >> i & 1) == 0 && is_better({x.at[i], first + i}, own))
        own = {x.at[i], first + i};
  });
  exponentials.take_top_of_block();
  float sum[1] = {exponentials.sum};
  over_block(sum, Sum());
  const float log_sum = logf(sum[0]) + exponentials.top;
  if (threadIdx.x == 0 && a.log_sums != nullptr) a.log_sums[blockIdx.x] = log_sum;

  const unsigned long long at = static_cast<unsigned long long>(blockIdx.x) * a.count;
  for (unsigned rank = 0; rank < a.count; ++rank) {
    const Ranked best = best_of_block(own);
    if (threadIdx.x == 0) {
      const bool is_none = best.column == kNoColumn;
      a.tokens[at + rank] = is_none ? 0 : best.column;
      a.best[at + rank] = is_none ? __uint_as_float(0xFF800000)
                                  : best.value - (a.log_sums != nullptr ? log_sum : 0.0F);
    }
    if (best.column == own.column && rank + 1 < a.count && best.column != kNoColumn)
      own = next_of_thread(a, row, best);
  }
}

extern "C" {

__global__ void best_tokens_float32(CudaBestTokens a) { best_tokens(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
