// Which device a command works on: `--device auto|cpu|cuda|cuda:N`.
#pragma once

#include <torch/types.h>

#include <string>

namespace dragoman {

/// auto is CUDA where there is one, else the CPU; without a number it is the CUDA device
/// `local_rank`, counted around where there are fewer. Throws UsageError for other texts, Error
/// where CUDA is asked for and missing, or has no device of that number.
torch::Device parse_device(const std::string& text, int local_rank = 0);

/// Gives LibTorch as many threads of the CPU as threads_to_use() says, and returns how many. Called
/// before any work.
int use_threads(std::int64_t threads, int processes = 1);

}  // namespace dragoman
