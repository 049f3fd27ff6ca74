// What other threads or processes bring about in a while.
#pragma once

#include <chrono>
#include <thread>

namespace dragoman {

/// Waits until the condition holds, for `limit` at most. Whether it holds then.
template <class Condition>
bool wait_until(Condition condition, std::chrono::seconds limit = std::chrono::minutes(1)) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace dragoman
