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
  const MutexLock lock(mutex_);
  if (!expects_) return;
  --missing_[slice_of_[parameter]];
  while (next_ < slices_.size() && missing_[next_] == 0) hand_over_next();
}

void GradientSlices::hand_over_rest() {
  const MutexLock lock(mutex_);
  while (next_ < slices_.size()) hand_over_next();
}

void GradientSlices::hand_over_next() {
  take_(slices_[next_]);
  ++next_;
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
