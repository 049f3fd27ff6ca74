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

/// Of the limit's flag; 0: there is no such limit.
double value_of(StopReason limit, const TrainConfig& config) {
  switch (limit) {
    case StopReason::MaxUpdates:
      return static_cast<double>(config.max_updates);
    case StopReason::MaxEpochs:
      return static_cast<double>(config.max_epochs);
    case StopReason::MaxTime:
      return config.max_seconds();
    case StopReason::Patience:
      return static_cast<double>(config.patience);
    case StopReason::Requested:
      return 0;
  }
  return 0;
}

}  // namespace

std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position) {
  if (config.scheduler != LrScheduler::Wsd || position.update == 0) return std::nullopt;
  const auto limit = limit_in_sight(config, position);
  if (!limit) return std::nullopt;
  std::int64_t end = end_of_cooldown(config, position.update);
  if (config.max_updates > 0)
    end = *limit == StopReason::MaxUpdates ? config.max_updates : std::min(end, config.max_updates);
  return Cooldown{.begin = position.update,
                  .end = end,
                  .limit = *limit,
                  .limit_value = value_of(*limit, config)};
}

std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update) {
  const double fraction = config.cooldown / (1 - config.cooldown);
  return update + std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(update)));
}

bool goes_on(const Cooldown& cooldown, const TrainConfig& config) {
  const double now = value_of(cooldown.limit, config);
  return now > 0 && (cooldown.limit_value == 0 || now <= cooldown.limit_value);
}

std::optional<std::string> begin_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                          const RunPosition& position) {
  if (progress.cooldown.has_begun()) return std::nullopt;
  const auto cooldown = due_cooldown(config, position);
  if (!cooldown) return std::nullopt;
  progress.cooldown = *cooldown;
  const bool by_patience = cooldown->limit == StopReason::Patience;
  return join_text(
      by_patience ? join_text("no gain in ", position.without_gain, " validations: ") : "",
      "the rate falls from here to update ", cooldown->end, ", where the run ends");
}

std::optional<std::string> cancel_cooldown_if_longer(ProgressRecord& progress,
                                                     const TrainConfig& config) {
  if (!progress.cooldown.has_begun() || goes_on(progress.cooldown, config)) return std::nullopt;
  progress.cooldown = {};
  progress.patience = {};
  return "the run has another limit now: its rate, which was falling, is at its peak again";
}

}  // namespace dragoman
