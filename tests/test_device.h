// The device of tensor tests: the CPU, or with DRAGOMAN_TEST_DEVICE=cuda CUDA; they are skipped
// if it is missing. Each test has one thread, as tests are small and run side by side.
#pragma once

#include <torch/types.h>

namespace dragoman {

torch::Device test_device();

}  // namespace dragoman
