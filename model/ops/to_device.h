// A list of numbers as a tensor on a device.
#pragma once

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace dragoman {

/// A copy of page-locked numbers on a GPU, made on a stream for copies alone. The current stream
/// waits for it, the host does not. So numbers of the next update arrive while the GPU computes.
torch::Tensor copied_to_gpu(const torch::Tensor& locked, torch::Device device);

/// [n], of the numbers' type. The copy to a GPU goes by way of page-locked memory.
template <class Number>
torch::Tensor to_device(const std::vector<Number>& values, torch::Device device) {
  const auto size = static_cast<std::int64_t>(values.size());
  const auto type = c10::CppTypeToScalarType<Number>::value;
  const auto view = torch::from_blob(const_cast<Number*>(values.data()), {size}, type);
  if (!device.is_cuda()) return view.clone().to(device);
  auto locked = torch::empty({size}, torch::TensorOptions(type).pinned_memory(true));
  return copied_to_gpu(locked.copy_(view), device);
}

}  // namespace dragoman
