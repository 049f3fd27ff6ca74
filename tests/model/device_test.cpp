#include "model/device.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>

#include "base/error.h"
#include "tests/data/text_files.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(Device, TheDeviceIsTheCpuWhereItIsAskedForOrThereIsNoOther) {
  EXPECT_EQ(parse_device("cpu"), torch::Device(torch::kCPU));
  EXPECT_EQ(parse_device("auto").is_cpu(), !torch::cuda::is_available());
}

TEST(Device, OtherTextsNameNoDevice) {
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda0", "CPU"})
    EXPECT_THROW(parse_device(text), UsageError) << text;
}

TEST(Device, AGpuThatIsMissingIsAnErrorThatSaysWhy) {
  const auto devices = torch::cuda::device_count();
  if (devices > 0) {
    EXPECT_THAT(message_of<Error>([] { parse_device("cuda:999"); }), HasSubstr("CUDA devices"));
    return;
  }
  for (const char* text : {"cuda", "cuda:0"})
    EXPECT_THAT(message_of<Error>([&] { parse_device(text); }),
                HasSubstr(at::globalContext().hasCUDART() ? ": there is no GPU here"
                                                          : ": this LibTorch was built without"));
}

}  // namespace
}  // namespace dragoman
