// Threads that help with tasks of microseconds. They poll for the next task for a while before they
// sleep. A task that no helper has taken is done by the caller. Where a helper keeps the caller
// waiting, because another program has its core, the caller works alone for a while. For longer
// tasks see ThreadTeam.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace dragoman {

class HelperTeam {
 public:
  explicit HelperTeam(std::size_t helpers);
  HelperTeam(const HelperTeam&) = delete;
  HelperTeam& operator=(const HelperTeam&) = delete;
  ~HelperTeam();

  /// The number of helpers, and one for the caller.
  std::size_t size() const { return threads_.size() + 1; }

  /// Calls task(i) once for every i in [0, count), count < 65,536, on the caller's thread and the
  /// helpers', and waits for all. Tasks must not throw. One call at a time.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  using Clock = std::chrono::steady_clock;

  /// A call of run() in one word: its number (32 bits), its tasks (16 bits) and how many of them
  /// are taken (16 bits). So a thread can only take a task of the call that it has seen.
  using Call = std::uint64_t;

  void help();
  /// Does tasks of the call until all are taken.
  void do_tasks(Call call);

  std::atomic<Call> call_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> over_ = false;
  const std::function<void(std::size_t)>* task_ = nullptr;
  Clock::time_point alone_until_;
  std::vector<std::jthread> threads_;
};

}  // namespace dragoman
