#include "base/machine.h"

#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// jemalloc reads this before main(). Freed blocks stay with the process, large ones too: giving
/// them back to the system means faulting them in again in each step of a training, which takes as
/// long as the rest of it. The system is asked for large pages. Freed neighbours become one
/// block. A block of any size may be cut from a free one; by default only blocks of at least a 64th
/// of its size are, and memory grows without end. Threads share arenas (make_arenas) and have
/// no caches of their own: jemalloc 5.3 dereferences null in a new thread if memory does not
/// suffice for its arena or its cache.
const char* malloc_conf =
    "retain:false,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,thp:always,"
    "lg_extent_max_active_fit:63,narenas:16,tcache:false";

/// Part of jemalloc; null without it.
extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size) __attribute__((weak));

namespace dragoman {

namespace {

namespace fs = std::filesystem;

/// The number after the name in a file with lines "name number", such as /proc/meminfo, in its own
/// unit. None if the file or the name is not there.
std::optional<std::int64_t> number_in(const fs::path& path, std::string_view name) {
  std::ifstream file(path);
  for (std::string word, rest; file >> word; std::getline(file, rest))
    if (word == name)
      if (std::int64_t number = 0; file >> number) return number;
  return std::nullopt;
}

}  // namespace

// ---- memory ----

namespace {

std::int64_t status_bytes(std::string_view name) {
  return number_in("/proc/self/status", name).value_or(0) * 1024;
}

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t left_by_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  return static_cast<std::int64_t>(limit.rlim_cur) - status_bytes("VmSize:");
}

/// A figure of jemalloc's, as of the last "epoch".
std::int64_t allocator_statistic(const char* name) {
  std::size_t value = 0, size = sizeof value;
  if (mallctl == nullptr || mallctl(name, &value, &size, nullptr, 0) != 0) return 0;
  return static_cast<std::int64_t>(value);
}

std::int64_t kept_by_allocator() {
  std::uint64_t epoch = 1;
  if (mallctl != nullptr) mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  return std::max<std::int64_t>(0, allocator_statistic("stats.resident") -
                                       allocator_statistic("stats.active") -
                                       allocator_statistic("stats.metadata"));
}

/// What is left without the freed memory that the allocator keeps.
std::int64_t left_by_system() {
  const std::int64_t machine = number_in("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  return std::max<std::int64_t>(0, std::min({machine, memory_left_by_cgroups().value_or(kUnlimited),
                                             left_by_address_space()}));
}

}  // namespace

std::int64_t resident_memory() { return status_bytes("VmRSS:"); }

std::int64_t peak_resident_memory() { return status_bytes("VmHWM:"); }

void reset_peak_resident_memory() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::int64_t available_memory() { return left_by_system() + kept_by_allocator(); }

void require_memory(std::int64_t bytes) {
  if (bytes > 0 && bytes > available_memory()) throw std::bad_alloc();
}

void make_arenas() {
  unsigned arenas = 0;
  std::size_t size = sizeof arenas;
  if (mallctl == nullptr || mallctl("opt.narenas", &arenas, &size, nullptr, 0) != 0) return;
  // Binding this thread to an arena makes the arena. The first one exists already, and is bound
  // last.
  while (arenas-- > 0)
    if (mallctl("thread.arena", nullptr, nullptr, &arenas, sizeof arenas) != 0)
      throw std::bad_alloc();
}

void give_back_freed_memory() {
  constexpr const char* kPurgeAllArenas = "arena.4096.purge";
  if (mallctl != nullptr) mallctl(kPurgeAllArenas, nullptr, nullptr, nullptr, 0);
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const std::string_view text = error.what();
  const auto says = [text](const char* words) {
    return text.find(words) != std::string_view::npos;
  };
  // oneDNN has one message for all failures to make its code, for which it takes memory from the
  // system.
  constexpr std::int64_t kRoomForCode = std::int64_t{64} << 20;
  return says("out of memory") || says("can't allocate memory") ||
         (says("could not create a primitive") && left_by_system() < kRoomForCode);
}

// ---- control groups ----

namespace {

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
    const fs::path root = v2 ? fs::path(files.root) : fs::path(files.root) / controller;
    for (fs::path at = fs::path(group).relative_path(); !at.empty(); at = at.parent_path())
      folders.push_back(root / at);
    folders.push_back(root);
  }
  return folders;
}

/// The only number of a file; none if it says "max".
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

/// v2: "quota period" in one file, and the quota may be "max"; v1: two files, -1 for no quota.
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
