// Which device a command works on: `--device auto|cpu|cuda|cuda:N`.
#pragma once

#include <torch/types.h>

#include <string>

namespace dragoman {

/// auto is CUDA where there is one, else the CPU. Throws UsageError for other texts, Error where
/// CUDA is asked for and missing, or has no device of that number.
torch::Device parse_device(const std::string& text);

/// Sets LibTorch up for work on the device: CPU threads (0: all that this process may use), and
/// products of fp32 matrices by the faster library where it is as exact (oneDNN on AMD, whose
/// AVX-512 MKL leaves idle). Returns the threads. Called once, before any work.
int prepare_device(torch::Device device, std::int64_t threads);

}  // namespace dragoman
