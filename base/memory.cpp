#include "base/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <string_view>

#include "base/cgroup.h"
#include "base/number_in.h"

/// jemalloc reads this before main(). Freed blocks stay with the process, large ones too: giving
/// them back to the system means faulting them in again in each step of a training, which takes as
/// long as the rest of it. The system is asked for large pages. Freed neighbours become one
/// block. A block of any size may be cut from a free one; by default only blocks of at least a 64th
/// of its size are. Otherwise memory grows without end. Threads share arenas (make_arenas) and have
/// no caches of their own: jemalloc 5.3 dereferences null in a new thread where memory does not
/// suffice for its arena or its cache.
const char* malloc_conf =
    "retain:false,dirty_decay_ms:-1,muzzy_decay_ms:-1,oversize_threshold:0,thp:always,"
    "lg_extent_max_active_fit:63,narenas:16,tcache:false";

/// jemalloc's; null without it.
extern "C" int mallctl(const char* name, void* old_value, std::size_t* old_size, void* new_value,
                       std::size_t new_size) __attribute__((weak));

namespace dragoman {

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

/// Of jemalloc, as it was when asked for the last time.
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

/// Without the freed memory that the allocator keeps.
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
  // To bind this thread to an arena makes it. The first arena is there already, and is bound last.
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
  // oneDNN's message for each failure to make its code, for which it asks the system.
  constexpr std::int64_t kRoomForCode = std::int64_t{64} << 20;
  return says("out of memory") || says("can't allocate memory") ||
         (says("could not create a primitive") && left_by_system() < kRoomForCode);
}

}  // namespace dragoman
