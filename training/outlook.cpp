#include "training/outlook.h"

#include <algorithm>
#include <cmath>

namespace dragoman {

namespace {

/// 0 where a validation is due and not made yet.
double updates_to_validation(const TrainConfig& config, const ProgressRecord& progress) {
  const bool is_due = progress.update > 0 && progress.update % config.valid_every == 0 &&
                      progress.validated_update != progress.update;
  if (is_due) return 0;
  return static_cast<double>(config.valid_every - progress.update % config.valid_every);
}

/// The updates until --patience ends the run if no validation gains any more. With wsd the cooldown
/// is included.
double updates_by_patience(const TrainConfig& config, const ProgressRecord& progress) {
  const auto validations = static_cast<double>(
      std::max<std::int64_t>(1, config.patience - progress.patience.without_gain));
  const double stable = updates_to_validation(config, progress) +
                        (validations - 1) * static_cast<double>(config.valid_every);
  if (config.scheduler != LrScheduler::Wsd) return stable;
  const double end = (static_cast<double>(progress.update) + stable) / (1 - config.cooldown);
  return end - static_cast<double>(progress.update);
}

}  // namespace

Outlook outlook(const TrainConfig& config, const ProgressRecord& progress, const RunPace& pace) {
  const double per_update = pace.seconds_per_update +
                            pace.seconds_per_validation / static_cast<double>(config.valid_every);
  const auto end_after = [per_update](double updates) {
    updates = std::max(0.0, updates);
    return ExpectedEnd{.updates_left = updates, .seconds_left = updates * per_update};
  };
  Outlook result;
  const auto limit = [&](double updates) {
    if (!result.end || updates < result.end->updates_left) result.end = end_after(updates);
  };
  const auto update = static_cast<double>(progress.update);
  if (config.max_updates > 0) limit(static_cast<double>(config.max_updates) - update);
  if (config.max_epochs > 0)
    limit(static_cast<double>(config.max_epochs) * pace.updates_per_epoch - update);
  if (config.max_seconds() > 0 && per_update > 0)
    limit((config.max_seconds() - progress.seconds) / per_update);
  if (progress.cooldown.has_begun()) {
    limit(static_cast<double>(progress.cooldown.end) - update);
  } else if (config.patience > 0 && pace.validates) {
    const double updates = updates_by_patience(config, progress);
    if (!result.end || updates < result.end->updates_left)
      result.end_without_gain = end_after(updates);
  }
  if (pace.validates) {  // the last update is validated, too
    const double updates = updates_to_validation(config, progress);
    result.seconds_to_validation =
        pace.seconds_per_update *
        (result.end ? std::min(updates, result.end->updates_left) : updates);
  }
  return result;
}

}  // namespace dragoman
