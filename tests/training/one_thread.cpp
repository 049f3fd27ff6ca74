// Tests are small and run beside each other: one LibTorch thread each.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

struct OneThread : testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
[[maybe_unused]] const auto* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

}  // namespace
}  // namespace dragoman
