// Sums of tensors over the ranks, made on a thread of their own while the caller computes on.
#pragma once

#include <c10/core/Event.h>
#include <torch/types.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "base/mutex.h"

namespace dragoman {

class BackgroundSums {
 public:
  /// `sum` sums a tensor in place over all ranks, and waits for that.
  explicit BackgroundSums(std::function<void(torch::Tensor&)> sum);
  BackgroundSums(const BackgroundSums&) = delete;
  BackgroundSums& operator=(const BackgroundSums&) = delete;
  /// Waits for the sum under way, and forgets the others.
  ~BackgroundSums() = default;

  /// Sums are made one after the other. On another device than the CPU a sum waits for the work
  /// that the caller has given its stream so far, and for no later work.
  void begin(const torch::Tensor& tensor);
  /// Waits for all sums. Where one has failed, the others are left out and its exception is thrown.
  void finish();

 private:
  struct Summand {
    torch::Tensor tensor;
    std::optional<c10::Event> computed;  ///< none on the CPU
  };
  void work(const std::stop_token& stop);
  void sum(Summand& summand);

  const std::function<void(torch::Tensor&)> sum_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Summand> waiting_ GUARDED_BY(mutex_);
  bool is_summing_ GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ GUARDED_BY(mutex_);
  std::optional<c10::Stream> stream_;  // of the thread, on another device than the CPU
  std::jthread thread_;                // last: it uses the members above
};

}  // namespace dragoman
