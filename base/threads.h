// The cores that this process may use, loops on several threads, and threads that stay for many
// tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace dragoman {

/// Cores that the affinity mask and the cgroups' quotas (v1 and v2) allow; at least 1.
int available_cores();

/// Fills an affinity mask of `bytes` bytes, a bit for each core. False if the mask is longer.
using ReadAffinity = std::function<bool(std::size_t bytes, unsigned char* mask)>;

/// The cores of the mask; 0 if none can be read. Tests give masks of other machines.
int cores_of_affinity(const ReadAffinity& read);

/// Of `cores`, as many as a quota keeps busy (a quota of 1.5 cores: 2); at least 1.
int cores_within(int cores, std::optional<double> quota);

/// From now on available_cores() is at most `cores`. To be called at the start of a command, with
/// its --threads.
void limit_cores(int cores);

/// The number of threads for a flag's value. 0 stands for all cores that this process may use,
/// divided by the number of processes that share them; at least 1. Throws UsageError for far more
/// threads than cores.
int threads_to_use(std::int64_t flag, int processes = 1);

/// How many blocks of a size hold all items: count / size, rounded up. `count` may not be negative,
/// and `size` must be positive.
template <class T>
constexpr T divide_up(T count, T size) {
  return (count + size - 1) / size;
}

/// Calls body(i) for every i in [0, count), on up to `threads` threads. The first exception is
/// thrown again here, after all threads have stopped.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& body);

/// Threads that live as long as their team. Libraries keep buffers and threads of their own for
/// each thread that calls them, and these are costly to make again for every task.
class ThreadTeam {
 public:
  ThreadTeam() = default;
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  /// Calls task(i) for every i in [0, count) at the same time, each i always on the same thread of
  /// the team, never on the caller's. Waits for all. If tasks throw, the exception of the lowest
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

/// Threads that help with tasks of microseconds. They poll for the next task for a while before
/// they sleep. A task that no helper has taken is done by the caller. If a helper keeps the caller
/// waiting, because another program has its core, the caller works alone for a while. For longer
/// tasks see ThreadTeam.
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

/// Wakes a thread that waits in poll(): a descriptor that is readable from wake() until clear().
class WakeUp {
 public:
  /// Throws Error if the system has no descriptor left.
  WakeUp();
  WakeUp(const WakeUp&) = delete;
  WakeUp& operator=(const WakeUp&) = delete;
  ~WakeUp();

  int descriptor() const { return descriptor_; }
  void wake() const;  ///< from any thread
  void clear() const;

 private:
  int descriptor_;
};

}  // namespace dragoman
