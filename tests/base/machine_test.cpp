#include "base/machine.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <new>
#include <stdexcept>
#include <vector>

#include "base/files.h"

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

/// While it lives, the process may map only this much more.
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

namespace fs = std::filesystem;

class Cgroup : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    write_file(folder_.path() / path, text);
  }

  const ScratchFolder folder_{fs::path(testing::TempDir()) / "cgroup-"};
  const CgroupFiles files_{.memberships = folder_.path() / "memberships", .root = folder_.path()};
};

TEST_F(Cgroup, WithoutALimitNothingIsKnown) {
  EXPECT_EQ(memory_left_by_cgroups(files_), std::nullopt);
  EXPECT_EQ(cores_of_cgroups(files_), std::nullopt);
  write("memberships", "0::/\n");
  write("memory.max", "max\n");
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(memory_left_by_cgroups(files_), std::nullopt);
  EXPECT_EQ(cores_of_cgroups(files_), std::nullopt);
}

TEST_F(Cgroup, TheLeastOfTheGroupAndThoseAroundItCounts) {
  write("memberships", "0::/system.slice/job\n");
  write("system.slice/job/memory.max", "max\n");
  write("system.slice/memory.max", "5000\n");
  write("system.slice/memory.current", "3000\n");
  write("system.slice/memory.stat", "anon 1\nfile 700\n");
  write("system.slice/job/cpu.max", "350000 100000\n");
  write("cpu.max", "800000 100000\n");
  EXPECT_EQ(memory_left_by_cgroups(files_), 2700);
  EXPECT_EQ(cores_of_cgroups(files_), 3.5);
}

TEST_F(Cgroup, AQuotaMayBeHalfACore) {
  write("memberships", "0::/job\n");
  write("job/cpu.max", "50000 100000\n");
  EXPECT_EQ(cores_of_cgroups(files_), 0.5);
}

TEST_F(Cgroup, TheFirstVersionHasAFolderForEachController) {
  write("memberships", "3:cpu,cpuacct:/a\n2:memory:/slurm/job_1\n0::/\n");
  write("memory/slurm/job_1/memory.limit_in_bytes", "9000\n");
  write("memory/slurm/job_1/memory.usage_in_bytes", "4000\n");
  write("memory/slurm/job_1/memory.stat", "total_cache 500\n");
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("cpu/a/cpu.cfs_quota_us", "150000\n");
  write("cpu/a/cpu.cfs_period_us", "100000\n");
  write("cpu/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(memory_left_by_cgroups(files_), 5500);
  EXPECT_EQ(cores_of_cgroups(files_), 1.5);
}

}  // namespace
}  // namespace dragoman
