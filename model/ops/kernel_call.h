// How LibTorch's autograd functions call our kernels: the definitions that all ops need.
#pragma once

#include <ATen/record_function.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <optional>

#include "kernels/kernels.h"

namespace dragoman {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

inline constexpr std::int64_t kRowsPerTask = 64;

/// While an object lives, its thread computes as on a device without our kernels: in plain tensor
/// operations. Tests use it to compare these with the kernels, and to run them without a GPU.
class WithoutKernels {
 public:
  WithoutKernels() : before_(active_) { active_ = true; }
  WithoutKernels(const WithoutKernels&) = delete;
  WithoutKernels& operator=(const WithoutKernels&) = delete;
  ~WithoutKernels() { active_ = before_; }

  static bool active() { return active_; }

 private:
  static inline thread_local bool active_ = false;
  bool before_;
};

inline bool runs_kernels_on(torch::Device device) {
  return device.is_cpu() && !WithoutKernels::active();
}
/// Whether kernels compute with x: on the CPU, in fp32 or bf16.
inline bool has_kernel_for(const torch::Tensor& x) {
  return runs_kernels_on(x.device()) &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}

inline ElementType element_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? ElementType::BFloat16 : ElementType::Float32;
}

using OptionalTensor = std::optional<torch::Tensor>;  // a Function takes no undefined tensors

inline OptionalTensor as_optional(const torch::Tensor& x) {
  return x.defined() ? OptionalTensor(x) : std::nullopt;
}

}  // namespace dragoman
