// Measures the time that something takes.
#pragma once

#include <chrono>

namespace dragoman {

class Stopwatch {
 public:
  /// Since it was made, or started again.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void restart() { start_ = std::chrono::steady_clock::now(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace dragoman
