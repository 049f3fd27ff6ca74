// Cross-entropy with label smoothing on NVIDIA GPUs, as kernels/loss-inl.h: rows of logits become
// the gradients of their losses. A block takes a row. It reads it twice, the second time from the
// GPU's cache, and writes it once.
#include "kernels/cuda/loss.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

/// The elements of a row, kColumnsOfThread at a time, by all threads of the block:
/// work(element's address, first column, count, whether they are words).
template <class T, class Work>
__device__ void for_parts_of_row(T* row, unsigned columns, Work&& work) {
  const bool has_words = columns % kColumnsOfThread == 0 && is_aligned(row);
  for (unsigned first = threadIdx.x * kColumnsOfThread; first < columns;
       first += blockDim.x * kColumnsOfThread)
    work(row + first, first, columns_from(first, columns), has_words);
}

template <class T>
__device__ void loss(const CudaLoss& a) {
  const unsigned row = blockIdx.x;
  T* const logits = static_cast<T*>(a.logits) + static_cast<unsigned long long>(row) * a.columns;
  const long long target = a.targets[row];
  if (target < 0) {
    Elements nothing;
    for (float& value : nothing.at) value = 0;
    for_parts_of_row(logits, a.columns, [&](T* part, unsigned, unsigned count, bool as_words) {
      store(part, nothing, count, as_words);
    });
    if (threadIdx.x == 0) a.losses[row] = a.negative_log_likelihoods[row] = 0;
    return;
  }
  const float target_logit = element(logits[target]);

  ExponentialSum exponentials;
  float sum_of_logits = 0;
  for_parts_of_row(logits, a.columns, [&](const T* part, unsigned, unsigned count, bool as_words) {
    const Elements x = load(part, count, as_words);
    exponentials.add(x, count);
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      if (i < count) sum_of_logits += x.at[i];
  });
  exponentials.take_top_of_block();
  float sums[2] = {exponentials.sum, sum_of_logits};
  over_block(sums, Sum());

  const float top = exponentials.top;
  const float log_total = logf(sums[0]) + top, inverse = 1.0F / sums[0];
  const float mean = sums[1] / static_cast<float>(a.columns);
  const float floor = a.smoothing / static_cast<float>(a.columns);
  for_parts_of_row(logits, a.columns, [&](T* part, unsigned first, unsigned count, bool as_words) {
    Elements x = load(part, count, as_words);
    for (unsigned i = 0; i < kColumnsOfThread; ++i) {
      x.at[i] = expf(x.at[i] - top) * inverse - floor;
      if (first + i == target) x.at[i] -= 1 - a.smoothing;
    }
    store(part, x, count, as_words);
  });
  if (threadIdx.x == 0) {
    a.negative_log_likelihoods[row] = log_total - target_logit;
    a.losses[row] =
        (1 - a.smoothing) * (log_total - target_logit) + a.smoothing * (log_total - mean);
  }
}

extern "C" {

__global__ void loss_float32(CudaLoss a) { loss<float>(a); }
__global__ void loss_bfloat16(CudaLoss a) { loss<BFloat16>(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
