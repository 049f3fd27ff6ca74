// Sums over the rows of gradients on NVIDIA GPUs, which are the gradients of biases: made while a
// kernel writes the gradient anyway, in stretches of rows, whose sums a second kernel adds up. All
// sums are made in one order.
#include "kernels/cuda/column_sums.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

static_assert(kColumnsOfThread == kCudaColumns);

template <class T>
__device__ void column_sums(const CudaColumnSums& a) {
  const unsigned threads_of_part = (a.columns + kColumnsOfThread - 1) / kColumnsOfThread;
  const unsigned threads_of_row = threads_of_part * a.part_count;
  const unsigned blocks_of_row = (threads_of_row + blockDim.x - 1) / blockDim.x;
  const unsigned thread = blockIdx.x % blocks_of_row * blockDim.x + threadIdx.x;
  if (thread >= threads_of_row) return;
  const unsigned part = thread / threads_of_part, byte = thread % threads_of_part;
  const unsigned first = byte * kColumnsOfThread, count = columns_from(first, a.columns);
  const unsigned width = a.part_count * a.columns, column = part * a.columns + first;
  const T* const from = static_cast<const T*>(a.parts[part]) + first;
  T* const to = static_cast<T*>(a.joined) + column;
  const bool as_words =
      a.columns % kColumnsOfThread == 0 && is_aligned(a.parts[part]) && is_aligned(a.joined);

  Elements sums;
  for (float& sum : sums.at) sum = 0;
  const unsigned stretch = blockIdx.x / blocks_of_row, begin = stretch * a.rows_per_sum;
  for (unsigned row = begin; row < a.rows && row < begin + a.rows_per_sum; ++row) {
    const auto at = static_cast<unsigned long long>(row);
    Elements x = load(from + at * a.columns, count, as_words);
    if (a.kept != nullptr) {
      const unsigned bits = a.kept[at * threads_of_part + byte];
      for (unsigned i = 0; i < kColumnsOfThread; ++i)
        x.at[i] = (bits >> i & 1) != 0 ? x.at[i] * a.scale : 0.0F;
    }
    for (unsigned i = 0; i < kColumnsOfThread; ++i) sums.at[i] += x.at[i];
    store(to + at * width, x, count, as_words);
  }
  store(a.sums + static_cast<unsigned long long>(stretch) * width + column, sums, count,
        as_words && is_aligned(a.sums));
}

template <class T>
__device__ void stretch_sums(const CudaStretchSums& a) {
  static_assert(kCudaColumnsOfSums == kLanes);
  constexpr unsigned warps = kCudaSumThreads / kLanes;
  __shared__ float of_warps[warps][kLanes];
  const unsigned warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  const unsigned column = blockIdx.x * kLanes + lane;
  const bool has_column = column < a.columns_in_all;
  float sum = 0;
  if (has_column) {
    const float* const first =
        a.stretches + static_cast<unsigned long long>(column / a.columns) * a.count * a.columns +
        column % a.columns;
    for (unsigned i = warp; i < a.count; i += warps)
      sum += first[static_cast<unsigned long long>(i) * a.columns];
  }
  of_warps[warp][lane] = sum;
  __syncthreads();
  if (warp > 0 || !has_column) return;
  for (unsigned w = 1; w < warps; ++w) sum += of_warps[w][lane];
  set(static_cast<T*>(a.sums)[column], sum);
}

extern "C" {

__global__ void column_sums_float32(CudaColumnSums a) { column_sums<float>(a); }
__global__ void column_sums_bfloat16(CudaColumnSums a) { column_sums<BFloat16>(a); }
__global__ void stretch_sums_float32(CudaStretchSums a) { stretch_sums<float>(a); }
__global__ void stretch_sums_bfloat16(CudaStretchSums a) { stretch_sums<BFloat16>(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
