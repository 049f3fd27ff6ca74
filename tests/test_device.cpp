#include "tests/test_device.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "model/device.h"

namespace dragoman {

namespace {

std::string wanted_device() {
  const char* device = std::getenv("DRAGOMAN_TEST_DEVICE");
  return device == nullptr ? "cpu" : device;
}

struct OnDevice : testing::Environment {
  void SetUp() override {
    at::set_num_threads(1);
    if (!wanted_device().starts_with("cuda") || torch::cuda::is_available()) return;
    std::puts("[  SKIPPED ] no CUDA device here");  // which CTest looks for
    std::exit(EXIT_SUCCESS);
  }
};
[[maybe_unused]] const auto* const kOnDevice = testing::AddGlobalTestEnvironment(new OnDevice);

}  // namespace

torch::Device test_device() { return parse_device(wanted_device()); }

}  // namespace dragoman
