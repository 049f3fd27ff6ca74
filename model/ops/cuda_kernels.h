// How the ops call our kernels for NVIDIA GPUs (kernels/cuda). CUDA's runtime loads and launches
// them. A LibTorch for CUDA brings it, and its functions are looked up by name at run time, so the
// program is built without CUDA.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>

namespace dragoman {

/// Whether our kernels compute with x: on a GPU, in fp32 or bf16. False if the build had no
/// compiler for them, if this GPU or its driver cannot run them, or under WithoutKernels:
/// LibTorch's operations take their place.
bool has_cuda_kernel_for(const torch::Tensor& x);

struct CudaBlocks {
  std::int64_t count;
  unsigned threads;  ///< of each
};
/// `threads` threads or more, in blocks of 256.
CudaBlocks blocks_of(std::int64_t threads);

/// Numbers of LibTorch as CUDA's compilers name them.
inline const long long* long_longs(const std::int64_t* numbers) {
  static_assert(sizeof(long long) == sizeof(std::int64_t));
  return reinterpret_cast<const long long*>(numbers);
}
inline long long* long_longs(std::int64_t* numbers) {
  return const_cast<long long*>(long_longs(static_cast<const std::int64_t*>(numbers)));
}

/// Launches the kernel `name` for x's type on the current stream of x's device. `arguments` is the
/// kernel's argument struct. Throws if the launch fails.
void launch_cuda_kernel(const std::string& name, const torch::Tensor& x, const CudaBlocks& blocks,
                        const void* arguments);

}  // namespace dragoman
