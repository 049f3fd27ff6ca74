// Layer normalisation on NVIDIA GPUs, with dropout and a residual connection before it, as
// kernels/add_norm-inl.h. A block's threads hold a row in registers, so each element is read and
// written once.
#include "kernels/cuda/add_norm.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/masks.cuh"

namespace dragoman::cuda_kernels {

template <class T>
__device__ void add_norm(const CudaAddNorm& a) {
  const unsigned row = blockIdx.x, first = threadIdx.x * kColumnsOfThread;
  const unsigned count = columns_from(first, a.columns);
  const bool as_words = count == kColumnsOfThread && a.columns % kColumnsOfThread == 0 &&
                        is_aligned(a.x) && is_aligned(a.residual) && is_aligned(a.gain) &&
                        is_aligned(a.bias) && is_aligned(a.sum) && is_aligned(a.y);
  const unsigned long long at = static_cast<unsigned long long>(row) * a.columns + first;
  Elements sum = load(static_cast<const T*>(a.x) + at, count, as_words);
  if (a.sum != nullptr) {
    Elements residual;
    for (float& value : residual.at) value = -0.0F;
    if (a.residual != nullptr)
      residual = load(static_cast<const T*>(a.residual) + at, count, as_words);
    Elements factor;
    for (float& value : factor.at) value = 1.0F;
    if (a.rule.row_keys != nullptr) factor = factors(a.rule, row_key(a.rule, row), first);
    T* const sums = static_cast<T*>(a.sum);
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      sum.at[i] = as_stored(sums, fmaf(sum.at[i], factor.at[i], residual.at[i]));
    store(sums + at, sum, count, as_words);
  }

  const float fraction = 1.0F / static_cast<float>(a.columns);
  float total[1] = {0};
  for (unsigned i = 0; i < kColumnsOfThread; ++i) total[0] += i < count ? sum.at[i] : 0.0F;
  over_block(total, Sum());
  const float mean = total[0] * fraction;
  float squares[1] = {0};
  for (unsigned i = 0; i < kColumnsOfThread; ++i) {
    const float d = i < count ? sum.at[i] - mean : 0.0F;
    squares[0] = fmaf(d, d, squares[0]);
  }
  over_block(squares, Sum());
  const float inverse = 1.0F / sqrtf(fmaf(squares[0], fraction, a.epsilon));

  const Elements gain = load(static_cast<const T*>(a.gain) + first, count, as_words);
  const Elements bias = load(static_cast<const T*>(a.bias) + first, count, as_words);
  Elements y;
  for (unsigned i = 0; i < kColumnsOfThread; ++i)
    y.at[i] = fmaf((sum.at[i] - mean) * inverse, gain.at[i], bias.at[i]);
  store(static_cast<T*>(a.y) + at, y, count, as_words);
  if (threadIdx.x == 0 && a.means != nullptr) {
    a.means[row] = mean;
    a.inverse_deviations[row] = inverse;
  }
}

template <class T>
__device__ void add_norm_gradient(const CudaAddNormGradient& a) {
  const unsigned first = threadIdx.x * kColumnsOfThread;
  const unsigned count = columns_from(first, a.columns);
  const bool as_words = count == kColumnsOfThread && a.columns % kColumnsOfThread == 0 &&
                        is_aligned(a.dy) && is_aligned(a.dy_again) &&
                        is_aligned(a.d_sum_elsewhere) && is_aligned(a.sum) && is_aligned(a.gain) &&
                        is_aligned(a.d_sum) && is_aligned(a.d_x);
  const float fraction = 1.0F / static_cast<float>(a.columns);
  Elements d_gain, d_bias, x_sums;
  for (unsigned i = 0; i < kColumnsOfThread; ++i) d_gain.at[i] = d_bias.at[i] = x_sums.at[i] = 0;

  const unsigned begin = blockIdx.x * a.rows_per_sum;
  for (unsigned row = begin; row < a.rows && row < begin + a.rows_per_sum; ++row) {
    const unsigned long long at = static_cast<unsigned long long>(row) * a.columns + first;
    const float mean = a.means[row], inverse = a.inverse_deviations[row];
    Elements scaled = load(static_cast<const T*>(a.dy) + at, count, as_words);
    if (a.dy_again != nullptr) {
      const Elements again = load(static_cast<const T*>(a.dy_again) + at, count, as_words);
      for (unsigned i = 0; i < kColumnsOfThread; ++i) scaled.at[i] += again.at[i];
    }
    Elements normalized = load(static_cast<const T*>(a.sum) + at, count, as_words);
    // Loaded again for each row, as registers are few.
    const Elements gain = load(static_cast<const T*>(a.gain) + first, count, as_words);
    float means[2] = {0, 0};  // sums at first: of scaled, and of its products with normalized
    for (unsigned i = 0; i < kColumnsOfThread; ++i) {
      normalized.at[i] = (normalized.at[i] - mean) * inverse;
      d_gain.at[i] += scaled.at[i] * normalized.at[i];
      d_bias.at[i] += scaled.at[i];
      scaled.at[i] *= gain.at[i];
      means[0] += scaled.at[i];
      means[1] += scaled.at[i] * normalized.at[i];
    }
    over_block(means, Sum());
    for (float& m : means) m *= fraction;

    Elements d;
    for (unsigned i = 0; i < kColumnsOfThread; ++i)
      d.at[i] = (scaled.at[i] - means[0] - normalized.at[i] * means[1]) * inverse;
    if (a.d_sum_elsewhere != nullptr) {
      const Elements other = load(static_cast<const T*>(a.d_sum_elsewhere) + at, count, as_words);
      for (unsigned i = 0; i < kColumnsOfThread; ++i) d.at[i] += other.at[i];
    }
    store(static_cast<T*>(a.d_sum) + at, d, count, as_words);
    if (a.d_x != nullptr) {
      const Elements factor = factors(a.rule, row_key(a.rule, row), first);
      for (unsigned i = 0; i < kColumnsOfThread; ++i) d.at[i] *= factor.at[i];
      store(static_cast<T*>(a.d_x) + at, d, count, as_words);
    }
    for (unsigned i = 0; i < kColumnsOfThread; ++i) x_sums.at[i] += d.at[i];
  }
  const unsigned long long of_block =
      static_cast<unsigned long long>(blockIdx.x) * a.columns + first;
  store(a.d_gain + of_block, d_gain, count, as_words && is_aligned(a.d_gain));
  store(a.d_bias + of_block, d_bias, count, as_words && is_aligned(a.d_bias));
  store(a.x_sums + of_block, x_sums, count, as_words && is_aligned(a.x_sums));
}

constexpr unsigned kMostThreads =
    kCudaMostColumns / kColumnsOfThread;  // of a block, so registers are few

extern "C" {

__global__ void add_norm_float32(CudaAddNorm a) { add_norm<float>(a); }
__global__ void add_norm_bfloat16(CudaAddNorm a) { add_norm<BFloat16>(a); }
__global__ void __launch_bounds__(kMostThreads) add_norm_gradient_float32(CudaAddNormGradient a) {
  add_norm_gradient<float>(a);
}
__global__ void __launch_bounds__(kMostThreads) add_norm_gradient_bfloat16(CudaAddNormGradient a) {
  add_norm_gradient<BFloat16>(a);
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
