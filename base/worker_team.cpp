#include "base/worker_team.h"

namespace dragoman {

WorkerTeam::~WorkerTeam() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
}

void WorkerTeam::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::unique_lock lock(mutex_);
  while (threads_.size() < count)
    threads_.emplace_back(&WorkerTeam::work, this, threads_.size(), round_);
  failures_.assign(count, nullptr);
  task_ = &task;
  count_ = left_ = count;
  ++round_;
  begun_.notify_all();
  ended_.wait(lock, [this] { return left_ == 0; });
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

/// `round`: the last one that the thread has nothing to do with.
void WorkerTeam::work(std::size_t number, std::uint64_t round) {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return over_ || round_ != round; });
    if (over_) return;
    round = round_;
    if (number >= count_) continue;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*task_)(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[number] = failure;
    if (--left_ == 0) ended_.notify_one();
  }
}

}  // namespace dragoman
