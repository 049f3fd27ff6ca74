// Calls of kernels from LibTorch's autograd functions: the definitions that all ops need.
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

/// Whether kernels compute with x: on the CPU, in fp32 or bf16.
inline bool has_kernel(const torch::Tensor& x) {
  return x.device().is_cpu() &&
         (x.scalar_type() == torch::kFloat32 || x.scalar_type() == torch::kBFloat16);
}

inline ElementType element_type(const torch::Tensor& x) {
  return x.scalar_type() == torch::kBFloat16 ? ElementType::BFloat16 : ElementType::Float32;
}

using OptionalTensor = std::optional<torch::Tensor>;  // undefined ones may not enter a Function

inline OptionalTensor as_optional(const torch::Tensor& x) {
  return x.defined() ? OptionalTensor(x) : std::nullopt;
}

}  // namespace dragoman
