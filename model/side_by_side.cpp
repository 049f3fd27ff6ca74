#include "model/side_by_side.h"

#include <ATen/Parallel.h>

namespace dragoman {

void run_side_by_side(ThreadTeam& team, std::size_t count,
                      const std::function<void(std::size_t)>& task) {
  const int threads = at::get_num_threads();
  team.run(count, [&](std::size_t i) {
    at::set_num_threads(threads / static_cast<int>(count));  // of this worker
    task(i);
  });
  at::set_num_threads(threads);  // what threads to come begin with
}

}  // namespace dragoman
