// When a run with the wsd schedule begins to cool down: its learning rate is constant until an end
// is in sight, and falls over the last stretch of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "training/progress_record.h"
#include "training/stop_reason.h"
#include "training/train_config.h"

namespace dragoman {

/// How far a run is, as the limits count it.
struct RunPosition {
  std::int64_t update = 0;
  double epochs = 0;              ///< passes over the corpus, with the fraction of the current one
  double seconds = 0;             ///< of training and validation
  std::int64_t without_gain = 0;  ///< validations, for --patience
};

/// The cooldown that begins at this update, if one is due. It is due when a limit (--max-updates,
/// --max-epochs or --max-time) is reached up to its last fraction --cooldown, or when --patience is
/// used up. It takes the fraction --cooldown of all updates, and ends at --max-updates at the
/// latest.
std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position);

/// The last update of a run whose cooldown begins at `update`.
std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update);

/// Whether a cooldown that has begun goes on in a run whose limits may have been changed since.
/// Where its limit is gone or has been raised, the rate returns to the peak.
bool goes_on(const Cooldown& cooldown, const TrainConfig& config);

/// Writes a cooldown into the record where one is due and none has begun, and returns the message
/// for the user.
std::optional<std::string> begin_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                          const RunPosition& position);
/// For a run that is resumed: cancels the cooldown in the record where goes_on() is false, and
/// returns the message for the user. Patience begins anew: the scores at the low rate were better
/// than those at the peak can be.
std::optional<std::string> cancel_cooldown_if_longer(ProgressRecord& progress,
                                                     const TrainConfig& config);

}  // namespace dragoman
