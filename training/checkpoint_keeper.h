// The checkpoints in a run's folder: when they are saved and removed, the one that a rollback
// returns to, and the ones that are averaged. Only rank 0 uses it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/stopwatch.h"
#include "training/checkpoint.h"
#include "training/run_log.h"
#include "training/training_observer.h"
#include "training/training_run.h"

namespace dragoman {

/// The mean of checkpoints' weights.
struct CheckpointMean {
  torch::Tensor weights;  ///< [P] fp32, flat like the model's; undefined where none is read
  std::vector<std::string> names;  ///< of the files, by rising update
};

/// Every checkpoint that is saved has the weights and moments of the model, and the progress record
/// with the length of the log.
class CheckpointKeeper {
 public:
  /// The arguments must outlive the keeper.
  CheckpointKeeper(const TrainingRun& run, TrainingModel& model, RunLog& log,
                   TrainingObserver& observer);

  /// Puts weights and moments of a checkpoint of this run into the model.
  void resume(const FoundCheckpoint& checkpoint);

  /// Saves the state before the first update, for a rollback. This and the next two throw Error
  /// where the file cannot be written.
  void save_start(ProgressRecord& progress);
  /// Saves update-NNN.safetensors. Removes those that neither --keep-last nor a rollback needs.
  void save_numbered(ProgressRecord& progress);
  /// Saves latest.safetensors, which only a resume uses.
  void save_latest(ProgressRecord& progress);
  /// Calls save_numbered() at a multiple of --save-every, or save_latest() when --save-minutes have
  /// passed. Warns where the file cannot be written.
  void save_if_due(ProgressRecord& progress);
  /// Whether the last numbered checkpoint is of this update.
  bool has_numbered(std::int64_t update) const { return numbered_.update == update; }
  /// Whether its record also knows the last validation and average.
  bool has_numbered(const ProgressRecord& progress) const {
    return numbered_ == NumberedState(progress);
  }
  /// Removes latest.safetensors, which a finished run does not need.
  void remove_latest();

  /// Puts the last sound checkpoint (where there is none since, that of the rollback before) into
  /// the model, and its record in place of the progress, with half the rate and another order of
  /// the text. Throws Error where there is none, or
  /// --max-rollbacks are used up.
  void roll_back(ProgressRecord& progress);

  /// The mean of the newest `count` numbered checkpoints that are readable.
  CheckpointMean mean_of_last(std::int64_t count) const;

 private:
  struct NumberedState {
    NumberedState() = default;
    explicit NumberedState(const ProgressRecord& progress)
        : update(progress.update),
          validated_update(progress.validated_update),
          averaged_update(progress.averaged_update) {}
    bool operator==(const NumberedState&) const = default;

    std::int64_t update = 0, validated_update = 0, averaged_update = 0;
  };

  void save(const std::filesystem::path& path, ProgressRecord& progress);
  FoundCheckpoint rollback_target(const ProgressRecord& diverged) const;

  const TrainingRun& run_;
  TrainingModel& model_;
  RunLog& log_;
  TrainingObserver& observer_;
  Warn warn_;
  NumberedState numbered_;  // of the last numbered checkpoint
  Stopwatch since_save_;
};

}  // namespace dragoman
