// Threads that live as long as their team. Libraries keep buffers and threads of their own for each
// thread that calls them. These are costly to make anew for every task.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace dragoman {

class ThreadTeam {
 public:
  ThreadTeam() = default;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  /// Calls task(i) for every i in [0, count) at the same time, each i always on the same thread of
  /// the team, never on the caller's. Waits for all. Where tasks throw, the exception of the lowest
  /// i is thrown again. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void work(std::size_t number, std::uint64_t round);

  Mutex mutex_;
  std::condition_variable_any begun_, ended_;
  std::uint64_t round_ GUARDED_BY(mutex_) = 0;  // counts calls of run
  bool over_ GUARDED_BY(mutex_) = false;
  const std::function<void(std::size_t)>* task_ GUARDED_BY(mutex_) = nullptr;
  std::size_t count_ GUARDED_BY(mutex_) = 0, left_ GUARDED_BY(mutex_) = 0;
  std::vector<std::exception_ptr> failures_ GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

}  // namespace dragoman
