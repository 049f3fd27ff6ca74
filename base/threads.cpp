#include "base/threads.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/cgroup.h"
#include "base/error.h"

namespace dragoman {

namespace {

int count_cores() {
  cpu_set_t set;
  int count = sched_getaffinity(0, sizeof set, &set) == 0
                  ? CPU_COUNT(&set)
                  : static_cast<int>(std::thread::hardware_concurrency());
  if (const auto quota = cores_of_cgroups())
    count = std::min(count, static_cast<int>(std::ceil(*quota)));
  return std::max(1, count);
}

std::atomic<int> core_limit = std::numeric_limits<int>::max();

}  // namespace

int available_cores() {
  static const int cores = count_cores();
  return std::min(cores, core_limit.load());
}

void limit_cores(int cores) { core_limit = std::max(1, cores); }

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
