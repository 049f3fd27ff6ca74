// What a program's work costs on a GPU: the time of each kernel, and the memory.
#pragma once

#include <torch/types.h>

#include <functional>
#include <nlohmann/json_fwd.hpp>

namespace dragoman {

/// Runs `work`, which waits for its results, and returns the number of kernels and copies that the
/// GPU ran meanwhile, their milliseconds, and both for each of the names that took the most time.
/// It reads them from CUPTI, by way of LibTorch's profiler. So `work` should be short.
nlohmann::ordered_json time_by_kernel(const std::function<void()>& work);

/// The same on the stand-in for a GPU (tests/cuda_stand_in): the launches of each operation, and
/// the bytes that they read and write.
nlohmann::ordered_json launches_by_kernel(const std::function<void()>& work);

/// The most memory that LibTorch has taken of the device so far, in GiB; 0 on the CPU.
double peak_device_memory_gib(torch::Device device);

}  // namespace dragoman
