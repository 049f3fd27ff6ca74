#include "model/side_by_side.h"

#include <ATen/Parallel.h>

#include <algorithm>

namespace dragoman {

namespace {

/// Sets the number of LibTorch's threads back in the end. The number of a worker would hold for all
/// threads to come otherwise.
class ThreadsToCome {
 public:
  ThreadsToCome() : threads_(at::get_num_threads()) {}
  ThreadsToCome(const ThreadsToCome&) = delete;
  ThreadsToCome& operator=(const ThreadsToCome&) = delete;
  ~ThreadsToCome() { at::set_num_threads(threads_); }

  int of_each(std::size_t count) const { return std::max(1, threads_ / static_cast<int>(count)); }

 private:
  int threads_;
};

}  // namespace

void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task) {
  const ThreadsToCome threads;
  team.run(count, [&](std::size_t i) {
    at::set_num_threads(threads.of_each(count));  // of this worker
    task(i);
  });
}

}  // namespace dragoman
