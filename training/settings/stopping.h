// When a run ends: its limits, patience, and the cooldown before the end; when a stage of it ends;
// and the outlook on the rest of the run, which the progress bar, the log and train --plan show.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "training/settings/progress_record.h"
#include "training/settings/train_config.h"

namespace dragoman {

/// The limit that a run has reached, if any. `seconds` of training and validation are those up to
/// now, on which all ranks agree; progress.seconds are those up to the last result that was read. A
/// cooldown that has begun ends the run, for the reason that began it.
std::optional<StopReason> reached_limit(const TrainConfig& config, const ProgressRecord& progress,
                                        double seconds);

// ---- patience: whether a run still gets better --------------------------------------------------
//
// A validation's score moves by chance: from update to update, and with the sentences that the
// validation text happens to have. So patience looks at the mean of the last scores. A gain has to
// exceed a fraction of the score's standard error. If the mean is the same to two decimals, a lower
// loss is a gain, too.

/// Scores that are averaged.
inline constexpr std::size_t kSmoothedScores = 3;
/// A gain exceeds this fraction of the score's standard error. Two models of one run are scored on
/// the same sentences, so the error of their difference is far smaller than that of a score.
inline constexpr double kGainInErrors = 0.1;

struct PatienceScore {
  double score = 0;           ///< greater is better (a loss with its sign changed)
  double standard_error = 0;  ///< by bootstrap over the validation sentences; 0: not known
  /// Decides if the smoothed BLEU or chrF is the same to two decimals.
  double loss = 0;
  bool counts = true;  ///< false: no gain, whatever the score
};
/// Adds the score of a validation to the state.
void note_validation(PatienceState& state, const PatienceScore& result);

// ---- stages of --mix ----------------------------------------------------------------------------
//
// Each stage shows the files in other proportions, so it counts its validations for itself, by the
// same rule. In the last stage they end the run.

/// The passes of each stage, as in PreparedData::stage_passes. Empty: the run has one stage.
using StagePasses = std::span<const std::int64_t>;

/// What the next validation is noted in.
PatienceState& patience_of_stage(ProgressRecord& progress, StagePasses passes);

/// Why a stage has ended: its passes are made; or it has no number of passes, and --patience is
/// used up.
enum class StageEnd { Passes, Patience };
constexpr std::array<std::string_view, 2> names_of(StageEnd) { return {"passes", "patience"}; }

struct BegunStage {
  StageEnd reason;     ///< why the stage before it has ended
  std::string notice;  ///< for the user
};

/// Puts the next stage into the record if its stage has ended. After an end by `patience` the next
/// stage begins with an epoch of its own, and the rest of the current epoch is not shown.
std::optional<BegunStage> begin_next_stage(ProgressRecord& progress, StagePasses passes,
                                           std::int64_t patience);

// ---- cooldown: the last stretch of a run with the wsd schedule ----------------------------------
//
// The learning rate is constant until an end is in sight, and falls over the last stretch of the
// run.

/// How far a run has come, as the limits count it.
struct RunPosition {
  std::int64_t update = 0;
  double epochs = 0;              ///< passes over the corpus, with the fraction of the current one
  double seconds = 0;             ///< of training and validation
  std::int64_t without_gain = 0;  ///< validations, for --patience
};

/// The cooldown that begins at this update, if one is due. It is due when only the last fraction
/// --cooldown of a limit (--max-updates, --max-epochs or --max-time) is left, or when --patience is
/// used up. It takes the fraction --cooldown of all updates, and ends at --max-updates at the
/// latest.
std::optional<Cooldown> due_cooldown(const TrainConfig& config, const RunPosition& position);

/// The last update of a run whose cooldown begins at `update`.
std::int64_t end_of_cooldown(const TrainConfig& config, std::int64_t update);

/// Whether a cooldown that has begun continues, in a run whose limits may have changed since. If
/// its limit is gone or has been raised, the rate returns to the peak.
bool continues(const Cooldown& cooldown, const TrainConfig& config);

/// Writes a cooldown into the record if one is due and none has begun, and returns the message for
/// the user.
std::optional<std::string> begin_cooldown(ProgressRecord& progress, const TrainConfig& config,
                                          const RunPosition& position);
/// For a run that is resumed: cancels the cooldown in the record if continues() is false, and
/// returns the message for the user. Patience begins again, because the scores at the low rate were
/// better than those at the peak can be.
std::optional<std::string> cancel_cooldown_if_longer(ProgressRecord& progress,
                                                     const TrainConfig& config);

// ---- outlook ------------------------------------------------------------------------------------

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
  /// Until the next validation begins; none without a validation text.
  std::optional<double> seconds_to_validation = {};
  /// By the first of the limits that are set, or at the end of a cooldown that has begun.
  std::optional<ExpectedEnd> end = {};
  /// The end by --patience if no validation gains any more; none if `end` comes first.
  std::optional<ExpectedEnd> end_without_gain = {};
};

Outlook outlook(const TrainConfig& config, const ProgressRecord& progress, const RunPace& pace);

}  // namespace dragoman
