#include "training/device_loss.h"

namespace dragoman {

DeviceLoss& DeviceLoss::operator+=(const DeviceLoss& other) {
  if (other.sums.defined()) sums = sums.defined() ? sums + other.sums : other.sums;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  return *this;
}

BatchLoss DeviceLoss::read() const {
  if (!sums.defined()) return {.source_tokens = source_tokens, .target_tokens = target_tokens};
  const auto here = sums.cpu().contiguous();
  return batch_loss(*this, here.const_data_ptr<double>());
}

BatchLoss batch_loss(const DeviceLoss& loss, const double* sums) {
  return {.smoothed = sums[0],
          .negative_log_likelihood = sums[1],
          .source_tokens = loss.source_tokens,
          .target_tokens = loss.target_tokens,
          .alignment = sums[2],
          .linked_tokens = sums[3]};
}

}  // namespace dragoman
