#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>

namespace dragoman {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

TEST(Memory, ThePeakGrowsWithWhatIsTouchedAndCanBeReset) {
  reset_peak_resident_memory();
  const std::int64_t before = peak_resident_memory();
  EXPECT_GT(resident_memory(), kMebibyte / 4);
  {
    const std::unique_ptr<char[]> block(new char[64 * kMebibyte]);
    std::memset(block.get(), 1, 64 * kMebibyte);
    EXPECT_EQ(block[kMebibyte], 1);
  }
  EXPECT_GE(peak_resident_memory() - before, 60 * kMebibyte);
  reset_peak_resident_memory();
  EXPECT_LT(peak_resident_memory() - before, 32 * kMebibyte);
}

TEST(Memory, ALimitOfTheAddressSpaceIsHeeded) {
  EXPECT_GT(available_memory(), 0);
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  const rlimit tight{64 * kMebibyte, before.rlim_max};
  setrlimit(RLIMIT_AS, &tight);
  const std::int64_t left = available_memory();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LE(left, 64 * kMebibyte);
}

TEST(Memory, KnowsTheErrorsThatSayThatItHasRunOut) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(
      is_out_of_memory(std::runtime_error("DefaultCPUAllocator: can't allocate memory: x")));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("CUDA out of memory. Tried to")));
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("no such file")));
}

}  // namespace
}  // namespace dragoman
