#include "model/side_by_side.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace dragoman {

namespace {

/// Restores the number of LibTorch's threads at the end. Otherwise threads that start later would
/// have the number of a worker.
class ThreadCountGuard {
 public:
  ThreadCountGuard() : threads_(at::get_num_threads()) {}
  ThreadCountGuard(const ThreadCountGuard&) = delete;
  ThreadCountGuard& operator=(const ThreadCountGuard&) = delete;
  ~ThreadCountGuard() { at::set_num_threads(threads_); }

  int of_each(std::size_t count) const { return std::max(1, threads_ / static_cast<int>(count)); }

 private:
  int threads_;
};

}  // namespace

void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task) {
  const ThreadCountGuard threads;
  team.run(count, [&](std::size_t i) {
    at::set_num_threads(threads.of_each(count));  // of this worker
    task(i);
  });
}

}  // namespace dragoman
