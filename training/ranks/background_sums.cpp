#include "training/ranks/background_sums.h"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <utility>

namespace dragoman {

BackgroundSums::BackgroundSums(std::function<void(torch::Tensor&)> sum)
    : sum_(std::move(sum)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

void BackgroundSums::begin(const torch::Tensor& tensor) {
  Summand summand{tensor, {}};
  if (!tensor.is_cpu()) {
    const c10::impl::VirtualGuardImpl device(tensor.device().type());
    summand.computed.emplace(tensor.device().type());
    summand.computed->record(device.getStream(tensor.device()));
  }
  const MutexLock lock(mutex_);
  waiting_.push_back(std::move(summand));
  changed_.notify_all();
}

void BackgroundSums::finish() {
  MutexLock lock(mutex_);
  while (is_summing_ || !waiting_.empty()) changed_.wait(lock);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void BackgroundSums::work(const std::stop_token& stop) {
  MutexLock lock(mutex_);
  for (;;) {
    changed_.wait(lock, stop, [this]() REQUIRES(mutex_) { return !waiting_.empty(); });
    if (stop.stop_requested()) return;
    Summand summand = std::move(waiting_.front());
    waiting_.pop_front();
    if (!failure_) {
      is_summing_ = true;
      lock.unlock();
      std::exception_ptr failure;
      try {
        sum(summand);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      is_summing_ = false;
      failure_ = failure;
    }
    changed_.notify_all();
  }
}

void BackgroundSums::sum(Summand& summand) {
  if (!summand.computed) return sum_(summand.tensor);
  summand.computed->synchronize();  // first: all ranks then send at about the same time
  if (!stream_) {
    const torch::Device where = summand.tensor.device();
    stream_ = c10::impl::VirtualGuardImpl(where.type()).getStreamFromGlobalPool(where);
  }
  const c10::StreamGuard guard(*stream_);
  sum_(summand.tensor);
  stream_->synchronize();
}

}  // namespace dragoman
