#include "extras/server/work_queue.h"

#include <utility>

namespace dragoman {

WorkQueue::WorkQueue(std::size_t most_waiting)
    : most_waiting_(most_waiting),
      thread_([this](const std::stop_token& stopping) { work(stopping); }) {}

void WorkQueue::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

/// Takes the jobs whose clients are gone out of those that wait.
WorkQueue::Jobs WorkQueue::take_gone() {
  Jobs gone;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto job = next++;
    if (job->gone.stop_requested()) gone.splice(gone.end(), waiting_, job);
  }
  return gone;
}

bool WorkQueue::post(Job job, std::stop_token gone) {
  Jobs added, called;
  added.push_back({std::move(job), std::move(gone)});  // later nothing takes memory
  bool is_taken = true;
  {
    const MutexLock lock(mutex_);
    if (waiting_.size() >= most_waiting_) called = take_gone();
    if (is_stopped_)
      called.splice(called.end(), added);
    else if (waiting_.size() < most_waiting_)
      waiting_.splice(waiting_.end(), added);
    else
      is_taken = false;
    changed_.notify_one();
  }
  for (const Waiting& each : called) each.job(thread_.get_stop_token());
  return is_taken;
}

void WorkQueue::work(const std::stop_token& stopping) {
  while (true) {
    Jobs next;
    {
      MutexLock lock(mutex_);
      changed_.wait(lock, stopping, [this]() REQUIRES(mutex_) { return !waiting_.empty(); });
      is_stopped_ = waiting_.empty();
      if (is_stopped_) return;
      next.splice(next.end(), waiting_, waiting_.begin());
    }
    next.front().job(stopping);
  }
}

}  // namespace dragoman
