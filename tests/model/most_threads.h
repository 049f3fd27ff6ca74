// How many of LibTorch's threads share an operation, as tests see it from within.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <atomic>
#include <memory>

namespace dragoman {

/// Counts the threads of all operations of the process while it lives. One at a time.
class MostThreads {
 public:
  MostThreads() {
    most_ = 0;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(
        [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
          int before = most_;
          const int now = at::get_num_threads();
          while (before < now && !most_.compare_exchange_weak(before, now)) {
          }
          return nullptr;
        }));
  }
  MostThreads(const MostThreads&) = delete;
  MostThreads& operator=(const MostThreads&) = delete;
  ~MostThreads() { at::removeCallback(handle_); }

  int count() const { return most_; }

 private:
  static inline std::atomic<int> most_ = 0;
  at::CallbackHandle handle_;
};

}  // namespace dragoman
