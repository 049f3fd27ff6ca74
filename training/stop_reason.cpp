#include "training/stop_reason.h"

#include <cstdint>

#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {

std::optional<StopReason> reached_limit(const TrainConfig& config, const ProgressRecord& progress,
                                        double seconds) {
  const auto reached = [](std::int64_t value, std::int64_t limit) {
    return limit > 0 && value >= limit;
  };
  if (reached(progress.update, config.max_updates)) return StopReason::MaxUpdates;
  if (reached(progress.epoch, config.max_epochs)) return StopReason::MaxEpochs;
  if (config.max_seconds() > 0 && progress.update > 0 && seconds >= config.max_seconds())
    return StopReason::MaxTime;
  if (reached(progress.update, progress.cooldown.end)) return progress.cooldown.limit;
  if (config.scheduler != LrScheduler::Wsd &&
      reached(progress.patience.without_gain, config.patience))
    return StopReason::Patience;
  return std::nullopt;
}

}  // namespace dragoman
