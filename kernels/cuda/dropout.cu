// Dropout on NVIDIA GPUs, with the bits of the CPU's kernels (kernels/dropout-inl.h): alone, with a
// residual connection, and after ReLU. Each element is read and written once, 16 bytes at a time
// if rows allow that; masks stand in registers alone. Tests run it on the CPU, too
// (tests/kernels/cuda_on_cpu.h).
#include "kernels/cuda/dropout.h"

#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/masks.cuh"

namespace dragoman::cuda_kernels {

static_assert(kColumnsOfThread == kCudaColumns);

template <class T>
__device__ void dropout(const CudaDropout& a) {
  const auto [thread, row, first, count] = part_of_row(a.columns);
  if (row >= a.rows) return;
  const bool as_words = a.columns % kColumnsOfThread == 0 && is_aligned(a.x) &&
                        is_aligned(a.residual) && is_aligned(a.y);
  const unsigned long long at = static_cast<unsigned long long>(row) * a.columns + first;
  const Elements x = load(static_cast<const T*>(a.x) + at, count, as_words);
  Elements y;  // at first the residual, or -0, which changes nothing that it is added to
  for (float& value : y.at) value = -0.0F;
  if (a.residual != nullptr) y = load(static_cast<const T*>(a.residual) + at, count, as_words);
  const Elements factor = factors(a.rule, row_key(a.rule, row), first);
  T* const to = static_cast<T*>(a.y) + at;
  unsigned kept = 0;
  for (unsigned i = 0; i < kColumnsOfThread; ++i) {
    const bool is_cut = a.relu && x.at[i] < 0.0F;  // NaN stays NaN
    y.at[i] = fmaf(is_cut ? 0.0F : x.at[i], factor.at[i], y.at[i]);
    kept |= static_cast<unsigned>(as_stored(to, y.at[i]) > 0.0F) << i;
  }
  store(to, y, count, as_words);
  if (a.kept != nullptr) a.kept[thread] = static_cast<unsigned char>(kept);
}

extern "C" {  // so that they are found by their names

__global__ void dropout_float32(CudaDropout a) { dropout<float>(a); }
__global__ void dropout_bfloat16(CudaDropout a) { dropout<BFloat16>(a); }

}  // extern "C"

}  // namespace dragoman::cuda_kernels
