// When a run with the wsd schedule begins to cool down: its learning rate is constant until an end
// is in sight, and falls over the last part of the run.
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
  double epochs = 0;              ///< passes over the corpus, with the part of the last one
  double seconds = 0;             ///< of training and validation
  std::int64_t without_gain = 0;  ///< validations, for --patience
};

struct Cooldown {
  std::int64_t start, end;  ///< updates: the last one with the peak, the last one of the run
  StopReason limit;         ///< what ends the run
  bool operator==(const Cooldown&) const = default;
};

/// The cooldown that begins at this update, if one is due: the first limit of which the stable part
/// (all but --cooldown of it) is over, or --patience. It takes --cooldown of all updates, and ends
/// at --max-updates at the latest.
std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position);

/// Where a run ends whose cooldown begins at this update.
std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update);

/// Whether a cooldown that has begun goes on in a run whose limits may have been changed since.
/// Where its limit is gone or has been raised, the rate returns to the peak. `patience`: --patience
/// when it began.
bool goes_on(const Cooldown& cooldown, const TrainConfig& config, const RunPosition& position,
             std::int64_t patience);

/// Notes in the record that the cooldown begins, where one is due and none has begun, and returns
/// what is to be said.
std::optional<std::string> begin_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                          const RunPosition& position);
/// Notes in the record of a run that goes on that its cooldown is over, where goes_on() says so,
/// and returns what is to be said.
std::optional<std::string> end_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                        const RunPosition& position, std::int64_t patience);

}  // namespace dragoman
