// Memory that runs out when a test wants it to.
#pragma once

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <new>

namespace dragoman {

/// Wraps LibTorch's allocator of the CPU: counts its blocks, and fails when it is told to.
class FailingAllocator final : public c10::Allocator {
 public:
  FailingAllocator() : wrapped_(*c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 255); }
  ~FailingAllocator() override { c10::SetCPUAllocator(&wrapped_, 255); }

  c10::DataPtr allocate(std::size_t bytes) override {
    largest = std::max(largest, bytes);
    if (++blocks == fails_at) failure();
    TORCH_CHECK(bytes <= limit, "DefaultCPUAllocator: can't allocate memory: ", bytes);
    return wrapped_.allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return wrapped_.raw_deleter(); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

  std::int64_t blocks = 0, fails_at = -1;
  std::function<void()> failure = [] { throw std::bad_alloc(); };
  std::size_t largest = 0, limit = ~std::size_t{0};

 private:
  c10::Allocator& wrapped_;
};

}  // namespace dragoman
