#include "training/cooldown.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace dragoman {

namespace {

/// Whether the stable phase of a run up to this limit is over.
bool is_in_sight(StopReason limit, const TrainConfig& config, const RunPosition& position) {
  const auto reached = [fraction = 1 - config.cooldown](double value, double end) {
    return end > 0 && value >= fraction * end;
  };
  switch (limit) {
    case StopReason::MaxUpdates:
      return reached(static_cast<double>(position.update), static_cast<double>(config.max_updates));
    case StopReason::MaxEpochs:
      return reached(position.epochs, static_cast<double>(config.max_epochs));
    case StopReason::MaxTime:
      return reached(position.seconds, config.max_seconds());
    case StopReason::Patience:
      return config.patience > 0 && position.without_gain >= config.patience;
    case StopReason::Requested:
      return false;
  }
  return false;
}

std::optional<StopReason> limit_in_sight(const TrainConfig& config, const RunPosition& position) {
  for (const StopReason limit :
       {StopReason::MaxUpdates, StopReason::MaxEpochs, StopReason::MaxTime, StopReason::Patience})
    if (is_in_sight(limit, config, position)) return limit;
  return std::nullopt;
}

}  // namespace

std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position) {
  if (config.scheduler != LrScheduler::Wsd || position.update == 0) return std::nullopt;
  const auto limit = limit_in_sight(config, position);
  if (!limit) return std::nullopt;
  std::int64_t end = end_of_cooldown(config, position.update);
  if (config.max_updates > 0)
    end = *limit == StopReason::MaxUpdates ? config.max_updates : std::min(end, config.max_updates);
  return Cooldown{.begin = position.update, .end = end, .limit = *limit};
}

std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update) {
  const double fraction = config.cooldown / (1 - config.cooldown);
  return update + std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(update)));
}

bool goes_on(const Cooldown& cooldown, const TrainConfig& config, const RunPosition& position,
             std::int64_t patience) {
  switch (cooldown.limit) {
    case StopReason::MaxUpdates:
      return config.max_updates > 0 && config.max_updates <= cooldown.end;
    case StopReason::Patience:  // a gain while the rate falls does not end the cooldown
      return config.patience > 0 && config.patience <= patience;
    default:
      return is_in_sight(cooldown.limit, config, position);
  }
}

std::optional<std::string> begin_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                          const RunPosition& position) {
  if (progress.cooldown_end > 0) return std::nullopt;
  const auto cooldown = due_cooldown(config, position);
  if (!cooldown) return std::nullopt;
  progress.cooldown_start = cooldown->begin;
  progress.cooldown_end = cooldown->end;
  progress.cooldown_limit = cooldown->limit;
  const bool by_patience = cooldown->limit == StopReason::Patience;
  return join_text(
      by_patience ? join_text("no gain in ", position.without_gain, " validations: ") : "",
      "the rate falls from here to update ", cooldown->end, ", where the run ends");
}

std::optional<std::string> end_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                        const RunPosition& position, std::int64_t patience) {
  const Cooldown begun{progress.cooldown_start, progress.cooldown_end, progress.cooldown_limit};
  if (begun.end == 0 || goes_on(begun, config, position, patience)) return std::nullopt;
  progress.cooldown_start = progress.cooldown_end = 0;
  progress.cooldown_limit = {};
  return "the run is longer now: its rate, which was falling, is at its peak again";
}

}  // namespace dragoman
