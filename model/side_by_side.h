// Work of LibTorch on several threads of the CPU, each with operations of its own. Threads that
// share every operation wait for each other hundreds of times, and longer where other programs have
// their cores.
#pragma once

#include <cstddef>
#include <functional>

#include "base/thread_team.h"

namespace dragoman {

/// Calls task(i) for i < count on the team's threads and waits for all. LibTorch's own threads are
/// divided among the calls, at least one for each. Rethrows the exception of the lowest i.
void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task);

}  // namespace dragoman
