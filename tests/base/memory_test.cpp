#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <vector>

namespace dragoman {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;

/// Bytes that this process has mapped.
rlim_t address_space() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

TEST(Memory, ThePeakGrowsWithTouchedPagesAndCanBeReset) {
  reset_peak_resident_memory();
  const std::int64_t before = peak_resident_memory();
  EXPECT_GT(resident_memory(), kMebibyte / 4);
  {
    // Mapped and unmapped at once, whatever allocator this program has.
    void* block =
        mmap(nullptr, 64 * kMebibyte, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(block, MAP_FAILED);
    std::memset(block, 1, 64 * kMebibyte);
    munmap(block, 64 * kMebibyte);
  }
  EXPECT_GE(peak_resident_memory() - before, 60 * kMebibyte);
  reset_peak_resident_memory();
  EXPECT_LT(peak_resident_memory() - before, 32 * kMebibyte);
}

TEST(Memory, SmallBlocksTakeTheRoomOfAFreedLargeOne) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator";
#endif
  {
    const std::vector<char> large(256 * kMebibyte, 1);
    ASSERT_EQ(large.back(), 1);
  }
  const std::int64_t before = resident_memory();
  std::vector<std::vector<char>> blocks;
  for (int i = 0; i < 128; ++i) blocks.emplace_back(kMebibyte, 1);
  EXPECT_LT(resident_memory() - before, 32 * kMebibyte);
}

/// While it lives, the process may map this much more, whatever its neighbours on the machine do.
class AddressSpaceLeft {
 public:
  explicit AddressSpaceLeft(std::int64_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit tight{address_space() + static_cast<rlim_t>(bytes), before_.rlim_max};
    setrlimit(RLIMIT_AS, &tight);
  }
  ~AddressSpaceLeft() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLeft(const AddressSpaceLeft&) = delete;
  AddressSpaceLeft& operator=(const AddressSpaceLeft&) = delete;

 private:
  rlimit before_{};
};

TEST(Memory, ALimitOfTheAddressSpaceIsHeeded) {
  EXPECT_GT(available_memory(), 0);
  give_back_freed_memory();  // by tests before this one
  const AddressSpaceLeft limit(64 * kMebibyte);
  EXPECT_LE(available_memory(), 65 * kMebibyte)
      << "a few kilobytes that are freed since count, too";
}

TEST(Memory, FreedMemoryIsAvailableAgain) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer's allocator";
#endif
  const AddressSpaceLeft limit(1024 * kMebibyte);
  const std::int64_t before = available_memory();
  {
    const std::vector<char> block(256 * kMebibyte, 1);
    ASSERT_EQ(block.back(), 1);
    EXPECT_LT(available_memory(), before - 128 * kMebibyte);
  }
  EXPECT_GT(available_memory(), before - 128 * kMebibyte);
  require_memory(before / 2);
  EXPECT_THROW(require_memory(2 * before), std::bad_alloc);
}

TEST(Memory, ErrorsThatSayThatMemoryHasRunOutAreRecognised) {
  EXPECT_TRUE(is_out_of_memory(std::bad_alloc()));
  EXPECT_TRUE(
      is_out_of_memory(std::runtime_error("DefaultCPUAllocator: can't allocate memory: x")));
  EXPECT_TRUE(is_out_of_memory(std::runtime_error("CUDA out of memory. Tried to")));
  {
    const AddressSpaceLeft limit(16 * kMebibyte);
    EXPECT_TRUE(is_out_of_memory(std::runtime_error("could not create a primitive")));
  }
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("could not create a primitive")))
      << "there is memory, so something else is wrong";
  EXPECT_FALSE(is_out_of_memory(std::runtime_error("no such file")));
}

}  // namespace
}  // namespace dragoman
