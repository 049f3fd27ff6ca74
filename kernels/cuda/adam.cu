// A step of the optimizer on NVIDIA GPUs, with the moving average and the weights in bf16: all in
// one pass over the flat buffers. The formula is that of LibTorch's fused step on the CPU, with its
// order of operations.
#include "kernels/cuda/adam.h"

#include "kernels/cuda/elements.cuh"

namespace dragoman::cuda_kernels {

static_assert(kColumnsOfThread == kCudaColumns);

extern "C" {

__global__ void adam_float32(CudaAdam a) {
  const long long first =
      static_cast<long long>(blockIdx.x * blockDim.x + threadIdx.x) * kColumnsOfThread;
  if (first >= a.count) return;
  const CudaStepNumbers n = *a.numbers;
  if (n.made == 0) return;
  const Elements gradient = load(a.gradient + first);
  Elements weights = load(a.weights + first);
  Elements m = load(a.first_moment + first), v = load(a.second_moment + first);
  for (unsigned i = 0; i < kColumnsOfThread; ++i) {
    const float g = gradient.at[i] * n.factor;
    m.at[i] = fmaf(a.first_fraction, g - m.at[i], m.at[i]);
    v.at[i] = fmaf(v.at[i], a.second_decay, a.second_fraction * g * g);
    const float denominator = sqrtf(v.at[i]) / n.root_correction + a.epsilon;
    weights.at[i] = weights.at[i] * n.kept - n.step_size * m.at[i] / denominator;
  }
  store(a.first_moment + first, m);
  store(a.second_moment + first, v);
  store(a.weights + first, weights);
  if (a.bfloat16_weights != nullptr)
    store(static_cast<BFloat16*>(a.bfloat16_weights) + first, weights);
  if (a.average == nullptr) return;
  Elements average = load(a.average + first);
  for (unsigned i = 0; i < kColumnsOfThread; ++i)
    average.at[i] = fmaf(n.average_fraction, weights.at[i] - average.at[i], average.at[i]);
  store(a.average + first, average);
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
