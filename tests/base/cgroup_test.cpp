#include "base/cgroup.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/scratch_folder.h"

namespace dragoman {
namespace {

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
