#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace dragoman {

namespace {

/// The cgroup's quota in cores, or 0 where there is none.
double cgroup_quota() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period)
    return quota == "max" || period <= 0 ? 0 : std::stod(quota) / period;
  double limit = 0;
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (v1_quota >> limit && v1_period >> period && limit > 0 && period > 0) return limit / period;
  return 0;
}

}  // namespace

int available_cores() {
  static const int cores = [] {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0
                    ? CPU_COUNT(&set)
                    : static_cast<int>(std::thread::hardware_concurrency());
    if (const double quota = cgroup_quota(); quota > 0)
      count = std::min(count, static_cast<int>(std::ceil(quota)));
    return std::max(1, count);
  }();
  return cores;
}

int threads_to_use(std::int64_t flag, int processes) {
  const int cores = available_cores(), most = std::max(64, 8 * cores);
  if (flag < 0 || flag > most)
    throw UsageError("--threads ", flag, ": must be from 0 (all of the ", cores,
                     " cores that this process may use) to ", most);
  return flag > 0 ? static_cast<int>(flag) : std::max(1, cores / processes);
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    try {
      for (std::int64_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> workers;
    const auto extra = std::min<std::int64_t>(threads, count) - 1;
    for (std::int64_t i = 0; i < extra; ++i) workers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace dragoman
