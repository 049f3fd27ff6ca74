// A step of the search on NVIDIA GPUs. A block takes a group of rows: a sentence with all its
// hypotheses.
#include "kernels/cuda/search_step.cuh"

namespace dragoman::cuda_kernels {

extern "C" {

__global__ void search_step_float32(DeviceSearchStep a) {
  __shared__ bool was_active;
  if (threadIdx.x == 0) was_active = search_step::decide(a, blockIdx.x);
  __syncthreads();
  if (!was_active) return;
  search_step::follow_parents(a, blockIdx.x, threadIdx.x, blockDim.x);
  __syncthreads();
  search_step::keep_copies(a, blockIdx.x, threadIdx.x, blockDim.x);
}

}  // extern "C"

}  // namespace dragoman::cuda_kernels
