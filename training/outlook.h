// What is to come of a run: when it ends, and when it validates next. Shown by the progress bar and
// the log, and by train --plan.
#pragma once

#include <cstdint>
#include <optional>

#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {

/// What a run costs here.
struct RunPace {
  double seconds_per_update = 0;
  double updates_per_epoch = 0;
  double seconds_per_validation = 0;  ///< 0: not known yet
  bool validates = true;              ///< whether there is a validation text
};

/// An end that is in sight.
struct ExpectedEnd {
  double updates_left = 0;
  double seconds_left = 0;  ///< validations included
};

struct Outlook {
  /// Until the next one begins; none without a validation text.
  std::optional<double> seconds_to_validation = {};
  /// By the first of the limits that are set, or at the end of a cooldown that has begun.
  std::optional<ExpectedEnd> end = {};
  /// By --patience, if no validation gains any more, where that is before `end`.
  std::optional<ExpectedEnd> without_gain = {};
};

Outlook outlook(const TrainConfig& config, const ProgressRecord& progress, const RunPace& pace);

}  // namespace dragoman
