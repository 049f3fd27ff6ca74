#include "training/batch_loss.h"

namespace dragoman {

BatchLoss& BatchLoss::operator+=(const BatchLoss& other) {
  smoothed += other.smoothed;
  negative_log_likelihood += other.negative_log_likelihood;
  source_tokens += other.source_tokens;
  target_tokens += other.target_tokens;
  alignment += other.alignment;
  linked_tokens += other.linked_tokens;
  return *this;
}

}  // namespace dragoman
