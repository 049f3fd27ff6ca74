// A queue for work that would hold up the thread of all requests, and a thread that does one job
// after the other.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <stop_token>
#include <thread>

#include "base/mutex.h"

namespace dragoman {

class WorkQueue {
 public:
  /// Called once. It must not throw. If `stopping` reports a stop, the queue is ending, and the job
  /// should only tell those who wait for it.
  using Job = std::function<void(const std::stop_token& stopping)>;

  /// While `most_waiting` jobs wait, no more are taken.
  explicit WorkQueue(std::size_t most_waiting = std::numeric_limits<std::size_t>::max());
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  ~WorkQueue() { stop(); }

  /// Takes a job; false if too many wait. If the queue is full, the jobs whose clients are `gone`
  /// are called at once and leave their places. After a stop() the job itself is called at once.
  /// From any thread. If memory runs out, it throws, and has not taken the job.
  bool post(Job job, std::stop_token gone = {});

  /// Waits for the job that is being done, and calls the others.
  void stop();

 private:
  struct Waiting {
    Job job;
    std::stop_token gone;
  };
  using Jobs = std::list<Waiting>;

  Jobs take_gone() REQUIRES(mutex_);
  void work(const std::stop_token& stopping);

  const std::size_t most_waiting_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  Jobs waiting_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  std::jthread thread_;  // last: it uses all above
};

}  // namespace dragoman
