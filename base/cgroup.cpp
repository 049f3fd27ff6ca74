#include "base/cgroup.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/number_in.h"

namespace dragoman {

namespace {

namespace fs = std::filesystem;

bool has_controller(std::string_view list, std::string_view controller) {
  return join_text(',', list, ',').find(join_text(',', controller, ',')) != std::string::npos;
}

/// The folders of the groups that this process is in: the innermost first, then those around it.
std::vector<fs::path> folders_of(const CgroupFiles& files, std::string_view controller) {
  std::vector<fs::path> folders;
  std::ifstream memberships(files.memberships);
  for (std::string number, controllers, group; std::getline(memberships, number, ':') &&
                                               std::getline(memberships, controllers, ':') &&
                                               std::getline(memberships, group);) {
    const bool v2 = controllers.empty();
    if (!v2 && !has_controller(controllers, controller)) continue;
    const fs::path root = v2 ? files.root : files.root / controller;
    for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path())
      folders.push_back(root / at);
    folders.push_back(root);
  }
  return folders;
}

/// The only number of a file; none where it says "max".
std::optional<std::int64_t> number_of(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The names of a group's files.
struct MemoryFiles {
  std::string_view limit, used, cached;
};
constexpr MemoryFiles kMemoryFiles[] = {
    {"memory.max", "memory.current", "file"},
    {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"}};

/// v2: "quota period" in one file, where the quota may be "max"; v1: two files, -1 for no quota.
std::optional<double> quota_of(const fs::path& folder) {
  std::string quota;
  double limit = 0, period = 0;
  if (std::ifstream file(folder / "cpu.max"); file >> quota >> period && quota != "max")
    limit = std::stod(quota);
  else if (const auto old = number_of(folder / "cpu.cfs_quota_us")) {
    limit = static_cast<double>(*old);
    period = static_cast<double>(number_of(folder / "cpu.cfs_period_us").value_or(0));
  }
  return limit > 0 && period > 0 ? std::optional(limit / period) : std::nullopt;
}

template <class Number>
void lower(std::optional<Number>& least, const std::optional<Number>& other) {
  if (other) least = std::min(least.value_or(*other), *other);
}

}  // namespace

std::optional<std::int64_t> memory_left_by_cgroups(const CgroupFiles& files) {
  std::optional<std::int64_t> least;
  for (const fs::path& folder : folders_of(files, "memory"))
    for (const MemoryFiles& names : kMemoryFiles)
      if (const auto limit = number_of(folder / names.limit))
        lower(least, std::optional(*limit - number_of(folder / names.used).value_or(0) +
                                   number_in(folder / "memory.stat", names.cached).value_or(0)));
  return least;
}

std::optional<double> cores_of_cgroups(const CgroupFiles& files) {
  std::optional<double> least;
  for (const fs::path& folder : folders_of(files, "cpu")) lower(least, quota_of(folder));
  return least;
}

}  // namespace dragoman
