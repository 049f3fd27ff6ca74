// Threads that live as long as their team. Libraries keep buffers and threads of their own for each
// thread that calls them. These are costly to make anew for every task.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace dragoman {

class WorkerTeam {
 public:
  WorkerTeam() = default;
  WorkerTeam(const WorkerTeam&) = delete;
  WorkerTeam& operator=(const WorkerTeam&) = delete;
  ~WorkerTeam();

  /// Calls task(i) for every i in [0, count) at the same time, each i always on the same thread of
  /// the team, never on the caller's. Waits for all. Where tasks throw, the exception of the lowest
  /// i is thrown again. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  void work(std::size_t number, std::uint64_t round);

  std::mutex mutex_;
  std::condition_variable begun_, ended_;
  std::uint64_t round_ = 0;  // counts calls of run
  bool over_ = false;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t count_ = 0, left_ = 0;
  std::vector<std::exception_ptr> failures_;
  std::vector<std::jthread> threads_;
};

}  // namespace dragoman
