#include "base/thread_team.h"

namespace dragoman {

ThreadTeam::~ThreadTeam() {
  {
    const MutexLock lock(mutex_);
    over_ = true;
  }
  begun_.notify_all();
}

void ThreadTeam::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  MutexLock lock(mutex_);
  while (threads_.size() < count)
    threads_.emplace_back(&ThreadTeam::work, this, threads_.size(), round_);
  failures_.assign(count, nullptr);
  task_ = &task;
  count_ = left_ = count;
  ++round_;
  begun_.notify_all();
  while (left_ > 0) ended_.wait(lock);
  for (const std::exception_ptr& failure : failures_)
    if (failure) std::rethrow_exception(failure);
}

/// `round`: the last one that the thread has nothing to do with.
void ThreadTeam::work(std::size_t number, std::uint64_t round) {
  MutexLock lock(mutex_);
  for (;;) {
    while (!over_ && round_ == round) begun_.wait(lock);
    if (over_) return;
    round = round_;
    if (number >= count_) continue;
    const auto& task = *task_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      task(number);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failures_[number] = failure;
    if (--left_ == 0) ended_.notify_one();
  }
}

}  // namespace dragoman
