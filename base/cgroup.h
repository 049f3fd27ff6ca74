// The limits that the control groups of this process set (v1 and v2): of its own group, and of all
// groups that this one is in. A container has a root of its own; a job of Slurm or systemd has not.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace dragoman {

/// Where the kernel tells of control groups. Tests give a folder of their own.
struct CgroupFiles {
  std::filesystem::path memberships = "/proc/self/cgroup";  ///< lines "number:controllers:group"
  std::filesystem::path root = "/sys/fs/cgroup";            ///< v1 has a folder for each controller
};

/// Bytes that the groups still allow; pages that only cache files count as free. Nothing where no
/// group has a limit.
std::optional<std::int64_t> memory_left_by_cgroups(const CgroupFiles& files = {});

/// The least quota of the groups, in cores. Nothing where no group has one.
std::optional<double> cores_of_cgroups(const CgroupFiles& files = {});

}  // namespace dragoman
