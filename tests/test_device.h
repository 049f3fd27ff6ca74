// Where tests of tensors run: on the CPU, or with DRAGOMAN_TEST_DEVICE=cuda on CUDA, where they are
// skipped without it. One thread each: tests are small and run beside each other.
#pragma once

#include <torch/types.h>

namespace dragoman {

torch::Device test_device();

}  // namespace dragoman
