// Attention of a decoding step on NVIDIA GPUs, with the keys and values of the tokens so far in a
// cache. Hypotheses share what their common ancestors have written: a row's column stands in the
// row that wrote it, so nothing is copied if hypotheses change their rows. A warp takes a head of a
// row, 32 columns at a time: each lane has the score of a column, then each lane some elements of
// the sum of the values.
#include "kernels/cuda/step_attention.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

constexpr unsigned kElementsOfLane = kCudaMostStepHead / kLanes;

/// A head of a row; it attends to `length` columns.
struct StepHead {
  unsigned row, head, length;
};

__device__ inline StepHead head_of_block(const CudaStepAttention& a) {
  const unsigned row = blockIdx.x / a.heads;
  const long long length =
      a.positions != nullptr ? a.positions[row] + 1 : a.lengths[row / a.rows_of_sequence];
  return {row, blockIdx.x % a.heads, static_cast<unsigned>(length)};
}

/// Where the head's elements of a sequence's column stand in the cache.
__device__ inline unsigned long long place(const CudaStepAttention& a, unsigned sequence,
                                           unsigned column, unsigned head) {
  return ((static_cast<unsigned long long>(sequence) * a.columns + column) * a.heads + head) *
         a.d_k;
}

__device__ inline unsigned long long place(const CudaStepAttention& a, const StepHead& of,
                                           unsigned column) {
  if (a.ancestors == nullptr) return place(a, of.row / a.rows_of_sequence, column, of.head);
  const int ancestor =
      a.ancestors[static_cast<unsigned long long>(of.row) * a.ancestor_columns + column];
  return place(a, of.row - of.row % a.width + static_cast<unsigned>(ancestor), column, of.head);
}

/// Reads the query, scaled, and writes the key and the value of the row's own token to the cache.
template <class T>
__device__ void take_token(const CudaStepAttention& a, const StepHead& of, float* query) {
  const unsigned long long from =
      static_cast<unsigned long long>(of.row) * a.stride + of.head * a.d_k;
  const unsigned long long own = place(a, of.row, of.length - 1, of.head);
  for (unsigned i = threadIdx.x; i < a.d_k; i += kLanes) {
    query[i] = element(static_cast<const T*>(a.queries)[from + i]) * a.scale;
    if (a.new_keys == nullptr) continue;
    static_cast<T*>(a.keys)[own + i] = static_cast<const T*>(a.new_keys)[from + i];
    static_cast<T*>(a.values)[own + i] = static_cast<const T*>(a.new_values)[from + i];
  }
}

template <class T>
__device__ float score_of(const float* query, const T* key, unsigned d_k, bool as_words) {
  float score = 0;
  for (unsigned i = 0; i < d_k; i += kColumnsOfThread) {
    const Elements k = load(key + i, columns_from(i, d_k), as_words);
    for (unsigned j = 0; j < kColumnsOfThread; ++j)
      if (i + j < d_k) score = fmaf(query[i + j], k.at[j], score);
  }
  return score;
}

template <class T>
__device__ void step_attention(const CudaStepAttention& a) {
  __shared__ float query[kCudaMostStepHead], scores[kLanes], weights[kLanes];
  __shared__ unsigned long long places[kLanes];  // of the columns in the cache
  const StepHead of = head_of_block(a);
  const unsigned lane = threadIdx.x;
  const T* const keys = static_cast<const T*>(a.keys);
  const T* const values = static_cast<const T*>(a.values);
  take_token<T>(a, of, query);
  __syncthreads();

  const bool as_words = a.d_k % kColumnsOfThread == 0 && is_aligned(keys);
  float top = -3.0e38F, total = 0, sums[kElementsOfLane];
  for (float& sum : sums) sum = 0;
  for (unsigned begin = 0; begin < of.length; begin += kLanes) {
    const unsigned count = of.length - begin < kLanes ? of.length - begin : kLanes;
    if (lane < count) {
      places[lane] = place(a, of, begin + lane);
      scores[lane] = score_of(query, keys + places[lane], a.d_k, as_words);
    }
    __syncthreads();
    const float before = top;
    for (unsigned c = 0; c < count; ++c) top = fmaxf(top, scores[c]);
    if (lane < count) weights[lane] = expf(scores[lane] - top);
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
  T* const attended = static_cast<T*>(a.attended) +
                      (static_cast<unsigned long long>(of.row) * a.heads + of.head) * a.d_k;
  for (unsigned e = 0; e < kElementsOfLane; ++e) {
    const unsigned i = e * kLanes + lane;
    if (i < a.d_k) set(attended[i], sums[e] / total);
  }
}

extern "C" {

__global__ void step_attention_float32(CudaStepAttention a) { step_attention<float>(a); }
__global__ void step_attention_bfloat16(CudaStepAttention a) { step_attention<BFloat16>(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
