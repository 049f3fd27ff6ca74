// Hands the gradient of an update over in slices, while its last backward pass still computes the
// rest. So ranks sum the first slices meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/mutex.h"
#include "training/flat_parameters.h"

namespace dragoman {

/// The least elements of a slice that is sent over a network: 32 MiB, or a quarter of a small
/// model's gradient.
inline std::int64_t slice_to_send(std::int64_t gradient) {
  return std::min<std::int64_t>(8 << 20, gradient / 4);
}

/// A backward pass goes from the last parameters to the first. So slices are handed over from the
/// end of the flat buffer to its beginning: always in this order, as all ranks must agree on it.
class GradientSlices {
 public:
  /// `take` gets each slice once in an update, on the thread that has completed it.
  GradientSlices(std::vector<FlatRange> slices, std::function<void(const FlatRange&)> take);

  /// Before a backward pass. The last one of an update computes the gradient of each parameter
  /// `times` times, on as many threads; 0: it is not the last one. Where memory has run out, the
  /// last pass may be expected again.
  void expect(std::size_t times);
  /// The gradient of a parameter has been computed once. Any thread may call it.
  void computed(std::size_t parameter);
  /// After the last backward pass: hands over the slices that are left.
  void hand_over_rest();
  /// Elements [0, n) have not been handed over. To be called while no backward pass is under way.
  std::int64_t left() const;
  /// Begins the next update.
  void restart();

 private:
  /// Hands over the next slices while `is_ready`. The lock is released meanwhile.
  template <class IsReady>
  void hand_over(MutexLock& lock, IsReady&& is_ready) REQUIRES(mutex_);

  const std::vector<FlatRange> slices_;
  const std::function<void(const FlatRange&)> take_;
  std::vector<std::size_t> slice_of_;  // [parameters]

  mutable Mutex mutex_;
  bool expects_ GUARDED_BY(mutex_) = false;
  std::vector<std::size_t> missing_ GUARDED_BY(mutex_);  // gradients, by slice
  std::size_t next_ GUARDED_BY(mutex_) = 0;              // slice to hand over
  bool is_handing_over_ GUARDED_BY(mutex_) = false;
};

}  // namespace dragoman
