// Attention of a decoding step on NVIDIA GPUs, with the keys and values of the tokens so far in a
// cache. Hypotheses share what their common ancestors have written: a row's column stands in the
// row that wrote it, so nothing is copied if hypotheses change their rows. A warp takes a head of a
// row, 32 columns at a time: each lane has the score of a column, then each lane some elements of
// the sum of the values.
#include "kernels/cuda/step_attention.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

constexpr unsigned kElementsOfLane = kCudaMostStepHead / kLanes;

template <class T>
__device__ void step_attention(const CudaStepAttention& a) {
  __shared__ float query[kCudaMostStepHead], scores[kLanes], weights[kLanes];
  __shared__ unsigned long long places[kLanes];  // of the columns' heads in the cache
  const unsigned row = blockIdx.x / a.heads, head = blockIdx.x % a.heads, lane = threadIdx.x;
  const unsigned size = a.heads * a.d_k;
  const unsigned length = static_cast<unsigned>(
      a.positions != nullptr ? a.positions[row] + 1 : a.lengths[row / a.rows_of_sequence]);
  const auto place_of = [&](unsigned column) {
    const unsigned sequence =
        a.ancestors == nullptr
            ? row / a.rows_of_sequence
            : row - row % a.width +
                  static_cast<unsigned>(
                      a.ancestors[static_cast<unsigned long long>(row) * a.ancestor_columns +
                                  column]);
    return (static_cast<unsigned long long>(sequence) * a.columns + column) * size + head * a.d_k;
  };
  T* const keys = static_cast<T*>(a.keys);
  T* const values = static_cast<T*>(a.values);

  const unsigned long long from = static_cast<unsigned long long>(row) * a.stride + head * a.d_k;
  const unsigned long long own =
      (static_cast<unsigned long long>(row) * a.columns + length - 1) * size + head * a.d_k;
  for (unsigned i = lane; i < a.d_k; i += kLanes) {
    query[i] = element(static_cast<const T*>(a.queries)[from + i]) * a.scale;
    if (a.new_keys != nullptr) {
      keys[own + i] = static_cast<const T*>(a.new_keys)[from + i];
      values[own + i] = static_cast<const T*>(a.new_values)[from + i];
    }
  }
  __syncthreads();

  const bool as_words = a.d_k % kColumnsOfThread == 0 && is_aligned(keys);
  float top = -3.0e38F, total = 0, sums[kElementsOfLane];
  for (float& sum : sums) sum = 0;
  for (unsigned begin = 0; begin < length; begin += kLanes) {
    const unsigned count = length - begin < kLanes ? length - begin : kLanes;
    float score = 0;
    if (lane < count) {
      places[lane] = place_of(begin + lane);
      const T* const key = keys + places[lane];
      for (unsigned i = 0; i < a.d_k; i += kColumnsOfThread) {
        const Elements k = load(key + i, columns_from(i, a.d_k), as_words);
        for (unsigned j = 0; j < kColumnsOfThread; ++j)
          if (i + j < a.d_k) score = fmaf(query[i + j], k.at[j], score);
      }
      scores[lane] = score;
    }
    __syncthreads();
    const float before = top;
    for (unsigned c = 0; c < count; ++c) top = fmaxf(top, scores[c]);
    if (lane < count) weights[lane] = expf(score - top);
    __syncthreads();
    const float kept = expf(before - top);
    total *= kept;
    for (unsigned c = 0; c < count; ++c) total += weights[c];
    for (unsigned e = 0; e < kElementsOfLane; ++e) {
      const unsigned i = e * kLanes + lane;
      if (e * kLanes >= a.d_k) break;
      sums[e] *= kept;
      if (i < a.d_k)
        for (unsigned c = 0; c < count; ++c)
          sums[e] = fmaf(weights[c], element(values[places[c] + i]), sums[e]);
    }
    __syncthreads();  // the next columns overwrite places, scores and weights
  }
  for (unsigned e = 0; e < kElementsOfLane; ++e) {
    const unsigned i = e * kLanes + lane;
    if (i < a.d_k)
      set(static_cast<T*>(
              a.attended)[static_cast<unsigned long long>(row) * size + head * a.d_k + i],
          sums[e] / total);
  }
}

extern "C" {

__global__ void step_attention_float32(CudaStepAttention a) { step_attention<float>(a); }
__global__ void step_attention_bfloat16(CudaStepAttention a) { step_attention<BFloat16>(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
