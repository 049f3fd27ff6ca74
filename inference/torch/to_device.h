// A list of numbers as a tensor.
#pragma once

#include <ATen/ops/from_blob.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace dragoman {

/// [n], int64 or fp32 as the numbers are.
template <class Number>
torch::Tensor to_device(const std::vector<Number>& values, torch::Device device) {
  const auto size = static_cast<std::int64_t>(values.size());
  const auto view = torch::from_blob(const_cast<Number*>(values.data()), {size},
                                     c10::CppTypeToScalarType<Number>::value);
  return device.is_cpu() ? view.clone() : view.to(device);
}

}  // namespace dragoman
