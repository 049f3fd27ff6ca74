#include "training/settings/stopping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/formatted_text.h"

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

void note_validation(PatienceState& state, const PatienceScore& result) {
  if (!result.counts) {
    ++state.without_gain;
    return;
  }
  state.recent.push_back(result.score);
  if (state.recent.size() > kSmoothedScores) state.recent.erase(state.recent.begin());
  const double smoothed = std::accumulate(state.recent.begin(), state.recent.end(), 0.0) /
                          static_cast<double>(state.recent.size());
  const bool tie = std::round(100 * smoothed) == std::round(100 * state.to_beat);
  const bool gained = state.validations == 0 ||
                      smoothed > state.to_beat + kGainInErrors * result.standard_error ||
                      (tie && result.loss < state.loss_to_beat);
  ++state.validations;
  if (gained) {
    state.to_beat = smoothed;
    state.loss_to_beat = result.loss;
    state.without_gain = 0;
  } else {
    ++state.without_gain;
  }
}

// ---- stages -------------------------------------------------------------------------------------

namespace {

bool is_last(const StageState& stage, StagePasses passes) {
  return stage.number + 1 >= std::ssize(passes);
}

}  // namespace

PatienceState& patience_of_stage(ProgressRecord& progress, StagePasses passes) {
  return is_last(progress.stage, passes) ? progress.patience : progress.stage.patience;
}

std::optional<BegunStage> begin_next_stage(ProgressRecord& progress, StagePasses passes,
                                           std::int64_t patience) {
  const StageState before = progress.stage;
  if (is_last(before, passes)) return std::nullopt;
  const auto begin = [&](std::int64_t first_epoch, StageEnd reason, const std::string& end) {
    progress.stage = {.number = before.number + 1, .first_epoch = first_epoch};
    return BegunStage{reason, join_text("stage ", before.number + 1, " of ", passes.size(),
                                        " ends after ", end, "; stage ", before.number + 2,
                                        " begins at update ", progress.update + 1)};
  };
  if (const std::int64_t own = passes[static_cast<std::size_t>(before.number)]; own > 0) {
    const std::int64_t end = before.first_epoch + own;
    if (progress.epoch < end) return std::nullopt;
    return begin(end, StageEnd::Passes, counted(own, "pass", "passes"));
  }
  const std::int64_t without_gain = before.patience.without_gain;
  if (patience == 0 || without_gain < patience) return std::nullopt;
  if (progress.batch > 0) ++progress.epoch;
  progress.batch = 0;
  return begin(progress.epoch, StageEnd::Patience,
               counted(without_gain, "validation") + " without a gain");
}

// ---- cooldown -----------------------------------------------------------------------------------

namespace {

/// A limit of a run, and how far the run has come.
struct RunLimit {
  StopReason reason;
  double reached;
  double end;  ///< the value of its flag; 0: there is no such limit
};

std::array<RunLimit, 4> limits_of(const TrainConfig& config, const RunPosition& position) {
  return {{{StopReason::MaxUpdates, static_cast<double>(position.update),
            static_cast<double>(config.max_updates)},
           {StopReason::MaxEpochs, position.epochs, static_cast<double>(config.max_epochs)},
           {StopReason::MaxTime, position.seconds, config.max_seconds()},
           {StopReason::Patience, static_cast<double>(position.without_gain),
            static_cast<double>(config.patience)}}};
}

}  // namespace

std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position) {
  if (config.scheduler != LrScheduler::Wsd || position.update == 0) return std::nullopt;
  const auto limits = limits_of(config, position);
  const auto limit = std::ranges::find_if(limits, [&config](const RunLimit& any) {
    const double stable = any.reason == StopReason::Patience ? 1 : 1 - config.cooldown;
    return any.end > 0 && any.reached >= stable * any.end;
  });
  if (limit == limits.end()) return std::nullopt;
  std::int64_t end = end_of_cooldown(config, position.update);
  if (config.max_updates > 0)
    end = limit->reason == StopReason::MaxUpdates ? config.max_updates
                                                  : std::min(end, config.max_updates);
  return Cooldown{
      .begin = position.update, .end = end, .limit = limit->reason, .limit_value = limit->end};
}

std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update) {
  const double fraction = config.cooldown / (1 - config.cooldown);
  return update + std::max<std::int64_t>(1, std::llround(fraction * static_cast<double>(update)));
}

bool continues(const Cooldown& cooldown, const TrainConfig& config) {
  return std::ranges::any_of(limits_of(config, {}), [&cooldown](const RunLimit& now) {
    return now.reason == cooldown.limit && now.end > 0 &&
           (cooldown.limit_value == 0 || now.end <= cooldown.limit_value);
  });
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
  if (!progress.cooldown.has_begun() || continues(progress.cooldown, config)) return std::nullopt;
  progress.cooldown = {};
  progress.patience = {};
  return "the run has another limit now: its rate, which was falling, is at its peak again";
}

// ---- outlook ------------------------------------------------------------------------------------

namespace {

/// 0 if a validation is due and not made yet.
double updates_to_validation(const TrainConfig& config, const ProgressRecord& progress) {
  const bool is_due = progress.update > 0 && progress.update % config.valid_every == 0 &&
                      progress.validated_update != progress.update;
  if (is_due) return 0;
  return static_cast<double>(config.valid_every - progress.update % config.valid_every);
}

/// The updates until --patience ends the run, if no validation gains any more. With wsd they
/// include the cooldown.
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
