// The rest of a run: when it ends, and when it validates next. The progress bar, the log and train
// --plan show it.
#pragma once

#include <cstdint>
#include <optional>

#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {

/// The time that updates and validations take on this machine.
struct RunPace {
  double seconds_per_update = 0;
  double updates_per_epoch = 0;
  double seconds_per_validation = 0;  ///< 0: not known yet
  bool validates = true;              ///< whether there is a validation text
};

/// The end of the run, by the first limit that it will reach.
struct ExpectedEnd {
  double updates_left = 0;
  double seconds_left = 0;  ///< validations included
};

struct Outlook {
  /// Until the next one begins; none without a validation text.
  std::optional<double> seconds_to_validation = {};
  /// By the first of the limits that are set, or at the end of a cooldown that has begun.
  std::optional<ExpectedEnd> end = {};
  /// The end by --patience if no validation gains any more, where that is before `end`.
  std::optional<ExpectedEnd> end_without_gain = {};
};

Outlook outlook(const TrainConfig& config, const ProgressRecord& progress, const RunPace& pace);

}  // namespace dragoman
