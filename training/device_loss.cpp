#include "training/device_loss.h"

namespace dragoman {

DeviceLoss& DeviceLoss::operator+=(const DeviceLoss& other) {
  if (other.values.defined()) values = values.defined() ? values + other.values : other.values;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  return *this;
}

BatchLoss DeviceLoss::read() const {
  if (!values.defined()) return {.source_tokens = source_tokens, .target_tokens = target_tokens};
  const auto here = values.cpu().contiguous();
  return batch_loss(*this, here.const_data_ptr<double>());
}

BatchLoss batch_loss(const DeviceLoss& loss, const double* values) {
  return {.smoothed = values[LossIndex::kSmoothed],
          .negative_log_likelihood = values[LossIndex::kNegativeLogLikelihood],
          .source_tokens = loss.source_tokens,
          .target_tokens = loss.target_tokens,
          .alignment = values[LossIndex::kAlignment],
          .linked_tokens = values[LossIndex::kLinkedTokens]};
}

}  // namespace dragoman
