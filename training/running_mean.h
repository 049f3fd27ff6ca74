// The mean of a quantity that may change slowly: of all values at first, later of about the last
// 100.
#pragma once

#include <algorithm>
#include <cstdint>

namespace dragoman {

class RunningMean {
 public:
  void add(double value) {
    ++count_;
    const double weight = std::max(1.0 / static_cast<double>(count_), kLeastWeight);
    mean_ += weight * (value - mean_);
  }
  double value() const { return mean_; }  ///< 0 before the first value

 private:
  static constexpr double kLeastWeight = 0.01;
  double mean_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace dragoman
