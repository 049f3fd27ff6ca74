#include "model/ops/cuda_kernels.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <limits>
#include <map>
#include <mutex>
#include <string_view>
#include <type_traits>

#include "base/threads.h"
#include "kernels/cuda/image.h"
#include "model/ops/kernel_call.h"

namespace dragoman {

namespace {

/// dim3 of CUDA's headers.
struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
};

/// The functions of CUDA's runtime (12.8 or newer) that we call, as cuda_runtime_api.h declares
/// them. Each returns 0 or the number of an error. Null if they are not in this process.
struct CudaRuntime {
  template <class Function>
  static Function* find(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  }
  bool is_loaded() const { return load && kernel && launch && last_error; }

  int (*load)(void** library, const void* image, void* jit_options, void** jit_values,
              unsigned jit_count, void* options, void** values,
              unsigned count) = find<std::remove_pointer_t<decltype(load)>>("cudaLibraryLoadData");
  int (*kernel)(void** kernel, void* library, const char* name) =
      find<std::remove_pointer_t<decltype(kernel)>>("cudaLibraryGetKernel");
  int (*launch)(const void* kernel, Dimensions grid, Dimensions block, void** arguments,
                std::size_t shared_memory,
                void* stream) = find<std::remove_pointer_t<decltype(launch)>>("cudaLaunchKernel");
  /// Also forgets the error, which LibTorch would find.
  int (*last_error)() = find<std::remove_pointer_t<decltype(last_error)>>("cudaGetLastError");
};

class CudaKernels {
 public:
  /// Loads the kernels, and tries one of them on the current device.
  CudaKernels() {
    const std::string_view image = cuda_image("kernels.ptx");
    if (image.empty() || !runtime_.is_loaded()) return;
    int error = runtime_.load(&library_, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
    if (error == 0) {
      CudaDropout nothing{};
      nothing.columns = 1;  // of no rows
      error = launch("dropout_float32", blocks_of(1), nullptr, &nothing);
    }
    if (error != 0) runtime_.last_error();
    are_usable_ = error == 0;
  }

  bool are_usable() const { return are_usable_; }

  /// Returns 0 or the number of an error.
  int launch(const std::string& name, const CudaBlocks& blocks, void* stream,
             const void* arguments) {
    void* kernel = nullptr;
    if (const int error = find(name, kernel)) return error;
    void* all_arguments[] = {const_cast<void*>(arguments)};
    return runtime_.launch(kernel, {static_cast<unsigned>(blocks.count)}, {blocks.threads},
                           all_arguments, 0, stream);
  }

 private:
  int find(const std::string& name, void*& kernel) {
    const std::lock_guard lock(mutex_);
    void*& known = kernels_[name];
    const int error = known != nullptr ? 0 : runtime_.kernel(&known, library_, name.c_str());
    kernel = known;
    return error;
  }

  const CudaRuntime runtime_;
  void* library_ = nullptr;
  bool are_usable_ = false;
  std::mutex mutex_;
  std::map<std::string, void*> kernels_;
};

/// Never destroyed: CUDA's runtime may end first.
CudaKernels& cuda_kernels() {
  static auto& kernels = *new CudaKernels;
  return kernels;
}

}  // namespace

bool has_cuda_kernel_for(const torch::Tensor& x) {
  if (!x.is_cuda() || WithoutKernels::active()) return false;
  if (x.scalar_type() != torch::kFloat32 && x.scalar_type() != torch::kBFloat16) return false;
  const c10::DeviceGuard guard(x.device());
  return cuda_kernels().are_usable();
}

CudaBlocks blocks_of(std::int64_t threads) {
  constexpr unsigned kThreads = 256;
  return {divide_up<std::int64_t>(threads, kThreads), kThreads};
}

void launch_cuda_kernel(const std::string& name, const torch::Tensor& x, const CudaBlocks& blocks,
                        const void* arguments) {
  TORCH_CHECK(blocks.count <= std::numeric_limits<std::int32_t>::max() / blocks.threads, name,
              ": too many elements");
  if (blocks.count == 0) return;
  const c10::DeviceGuard guard(x.device());
  const c10::Stream stream = c10::impl::VirtualGuardImpl(x.device().type()).getStream(x.device());
  const std::string of_type =
      name + (element_type(x) == ElementType::BFloat16 ? "_bfloat16" : "_float32");
  const int error = cuda_kernels().launch(of_type, blocks, stream.native_handle(), arguments);
  TORCH_CHECK(error == 0, of_type, ": CUDA error ", error);
}

}  // namespace dragoman
