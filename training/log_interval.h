// The updates since the last line of the log: their means, and tokens per second.
#pragma once

#include <cstdint>
#include <optional>

#include "training/batch_loss.h"

namespace dragoman {

struct IntervalMeans {
  double loss = 0;        ///< smoothed, per target piece
  double perplexity = 0;  ///< of the training batches, with dropout, without smoothing
  std::optional<double> alignment_loss = {};  ///< of guided alignment, per linked target piece
  double gradient_norm = 0;
  double source_tokens_per_second = 0, target_tokens_per_second = 0;
  double data_wait = 0;  ///< fraction of the time spent waiting for batches
};

/// `now` is a clock in seconds. `waited` are the seconds that the trainer has waited for batches
/// since the stream was opened.
class LogInterval {
 public:
  void begin(double now, double waited);
  void add(const BatchLoss& sums, double gradient_norm);
  /// Seconds of validations and checkpoints: the speed is that of training alone.
  void exclude_seconds(double seconds) { start_ += seconds; }

  bool empty() const { return updates_ == 0; }
  /// Of an interval that is not empty.
  IntervalMeans means(double now, double waited) const;

 private:
  BatchLoss sums_;
  double gradient_norm_ = 0, start_ = 0, waited_ = 0;
  std::int64_t updates_ = 0;
};

}  // namespace dragoman
