// How many cores this process may use, and loops on several threads.
#pragma once

#include <cstdint>
#include <functional>

namespace dragoman {

/// Cores that the affinity mask and the cgroups' quotas (v1 and v2) allow; at least 1.
int available_cores();

/// From now on available_cores() is at most `cores`. To be called at the start of a command, with
/// its --threads.
void limit_cores(int cores);

/// The number of threads for a flag's value. 0 stands for all cores that this process may use,
/// divided by the number of processes that share them; at least 1. Throws UsageError for far more
/// threads than cores.
int threads_to_use(std::int64_t flag, int processes = 1);

/// Calls body(i) for every i in [0, count), on up to `threads` threads. The first exception is
/// thrown again here, after all threads have stopped.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

}  // namespace dragoman
