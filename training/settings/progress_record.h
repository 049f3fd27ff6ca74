// The progress of a run: what a checkpoint holds besides weights and moments. With it a resumed run
// continues exactly as one that was never stopped. It is stored as JSON in the checkpoint's
// metadata.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "training/settings/divergence.h"

namespace dragoman {

/// Why a run ends.
enum class StopReason { MaxUpdates, MaxEpochs, MaxTime, Patience, Requested };
constexpr std::array<std::string_view, 5> names_of(StopReason) {
  return {"--max-updates", "--max-epochs", "--max-time", "--patience", "a signal"};
}

/// What patience knows of the validations so far (training/settings/stopping.h).
struct PatienceState {
  std::vector<double> recent;     ///< the last scores, oldest first; at most kSmoothedScores
  double to_beat = 0;             ///< smoothed score of the last gain
  double loss_to_beat = 0;        ///< loss at that validation
  std::int64_t validations = 0;   ///< whose score counted
  std::int64_t without_gain = 0;  ///< validations since the last gain
  bool operator==(const PatienceState&) const = default;
};

/// The stage of --mix that the next update belongs to (training/settings/stopping.h).
struct StageState {
  std::int64_t number = 0;       ///< from 0
  std::int64_t first_epoch = 0;  ///< from 0
  PatienceState patience = {};   ///< of its validations; unused in the last stage
  bool operator==(const StageState&) const = default;
};

/// The model in the run folder: its update, and the values that a better model must beat.
struct BestModel {
  std::int64_t update = 0;                           ///< 0: the model of --init-from
  double value = 0;                                  ///< of --best-metric
  double loss = std::numeric_limits<double>::max();  ///< on the same text
  double seconds = 0;                                ///< the record's `seconds` when it was found
  double keep_value = -1;  ///< of --best-metric on the text of --keep-valid-src; below 0: none

  /// Whether a validation has found one.
  bool exists() const { return update > 0 || loss < std::numeric_limits<double>::max(); }
  bool operator==(const BestModel&) const = default;
};

/// The machine that a run is started on. With other values a resumed run is not bit-identical.
struct MachineFacts {
  std::int64_t ranks = 1;
  std::string precision, threads, processor;

  bool operator==(const MachineFacts&) const = default;
};

/// The last stretch of a run with the wsd schedule, in which the rate falls
/// (training/settings/stopping.h).
struct Cooldown {
  /// Updates: the last one with the peak, the last one of the run. 0: it has not begun.
  std::int64_t begin = 0, end = 0;
  StopReason limit = {};   ///< what ends the run
  double limit_value = 0;  ///< of that flag when the cooldown began; 0: not known

  bool has_begun() const { return end > 0; }
  bool operator==(const Cooldown&) const = default;
};

/// The facts and settings of the last start. Settings are texts by field.
struct StartRecord {
  MachineFacts machine = {};
  std::map<std::string, std::string> file_hashes = {};  ///< hash of each text file, by its path
  std::map<std::string, std::string> values = {};       ///< of every field
  std::map<std::string, std::string> asked = {};    ///< of fields that were asked for; or "auto"
  std::map<std::string, std::string> reasons = {};  ///< for values that the program chose

  bool operator==(const StartRecord&) const = default;
};

struct ProgressRecord {
  std::int64_t update = 0;  ///< updates so far, left-out ones too
  std::int64_t epoch = 0;   ///< of the next batch, from 0
  std::int64_t batch = 0;   ///< number of the next batch in its epoch
  StageState stage;
  std::int64_t source_tokens = 0, target_tokens = 0;  ///< seen
  std::int64_t left_out = 0;  ///< updates left out, whose loss or gradient was not to be trusted
  LossHistory history;
  std::int64_t rollbacks = 0;       ///< returns to an earlier checkpoint; each begins another order
  double rate_factor = 1;           ///< of the schedule's rate; smaller after a rollback
  std::int64_t returned_to = 0;     ///< update of the checkpoint of the last rollback
  std::vector<std::int64_t> sound;  ///< updates of checkpoints that a rollback may need
  double seconds = 0;               ///< of training and validation, over all starts

  /// Since memory ran out, the most tokens of a part of a batch, as in partition(). 0: no bound.
  std::int64_t part_tokens = 0;

  std::int64_t validated_update = 0;  ///< of the last validation
  BestModel best;
  /// The value of --best-metric on the text of --keep-valid-src before the first update. Below 0:
  /// not measured.
  double keep_value = -1;
  /// The value of --best-metric of the model of --init-from. Below 0: not measured.
  double initial_value = -1;
  PatienceState patience;  ///< of the run: of the validations in its last stage
  Cooldown cooldown;
  std::int64_t averaged_update = 0;  ///< of the last average of checkpoints that was scored

  std::int64_t log_bytes = 0;  ///< length of log.jsonl at this point
  StartRecord start;

  bool operator==(const ProgressRecord&) const = default;
};

std::string to_json(const ProgressRecord& progress);
/// A member that is missing keeps its default. Throws Error if a member has the wrong type or makes
/// no sense, or if the update is missing.
ProgressRecord progress_from_json(std::string_view json);

}  // namespace dragoman
