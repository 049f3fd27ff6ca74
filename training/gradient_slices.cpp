#include "training/gradient_slices.h"

#include <utility>

namespace dragoman {

GradientSlices::GradientSlices(std::vector<FlatRange> slices,
                               std::function<void(const FlatRange&)> take)
    : slices_(std::move(slices)), take_(std::move(take)), missing_(slices_.size()) {
  slice_of_.resize(slices_.front().parameters_end);
  for (std::size_t slice = 0; slice < slices_.size(); ++slice)
    for (std::size_t i = slices_[slice].first_parameter; i < slices_[slice].parameters_end; ++i)
      slice_of_[i] = slice;
}

void GradientSlices::expect(std::size_t times) {
  const MutexLock lock(mutex_);
  expects_ = times > 0;
  for (std::size_t slice = 0; slice < slices_.size(); ++slice)
    missing_[slice] = times * (slices_[slice].parameters_end - slices_[slice].first_parameter);
}

void GradientSlices::computed(std::size_t parameter) {
  MutexLock lock(mutex_);
  if (!expects_) return;
  --missing_[slice_of_[parameter]];
  hand_over(lock, [this]() REQUIRES(mutex_) { return missing_[next_] == 0; });
}

void GradientSlices::hand_over_rest() {
  MutexLock lock(mutex_);
  hand_over(lock, [] { return true; });
}

/// One thread hands over at a time. The others do not wait for it: it looks again when it is done.
template <class IsReady>
void GradientSlices::hand_over(MutexLock& lock, IsReady&& is_ready) {
  if (is_handing_over_) return;
  is_handing_over_ = true;
  while (next_ < slices_.size() && is_ready()) {
    const FlatRange& slice = slices_[next_];
    lock.unlock();
    try {
      take_(slice);
    } catch (...) {
      lock.lock();
      is_handing_over_ = false;
      throw;
    }
    lock.lock();
    ++next_;
  }
  is_handing_over_ = false;
}

std::int64_t GradientSlices::left() const {
  const MutexLock lock(mutex_);
  return next_ < slices_.size() ? slices_[next_].end : 0;
}

void GradientSlices::restart() {
  const MutexLock lock(mutex_);
  expects_ = false;
  next_ = 0;
}

}  // namespace dragoman
