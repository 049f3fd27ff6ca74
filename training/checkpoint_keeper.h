// Which checkpoints a run has in its folder: what is saved when, what a rollback returns to, what
// is averaged, and what is removed. Of rank 0.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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
  /// All outlive the keeper.
  CheckpointKeeper(const TrainingRun& run, TrainingModel& model, RunLog& log,
                   TrainingObserver& observer);

  /// Puts weights and moments of a checkpoint of this run into the model.
  void resume(const FoundCheckpoint& checkpoint);

  /// The state before the first update, to be rolled back to. Throws Error, as the next two.
  void save_start(ProgressRecord& progress);
  /// At an update count; removes what neither --keep-last nor a rollback needs any more.
  void save_numbered(ProgressRecord& progress);
  /// What a resume alone uses.
  void save_latest(ProgressRecord& progress);
  /// At a multiple of --save-every the former, after --save-minutes the latter; warns where it
  /// cannot be saved.
  void save_what_is_due(ProgressRecord& progress);
  /// Whether this update has its numbered checkpoint.
  bool has_numbered(std::int64_t update) const { return numbered_update_ == update; }
  /// What the clock, a signal or a rollback has written is of no use to a run that is finished.
  void remove_latest();

  /// Puts the last sound checkpoint into the model, and its record in place of the progress, with
  /// half the rate and another order of the text. Throws Error where there is none, or
  /// --max-rollbacks are used up.
  void roll_back(ProgressRecord& progress);

  /// Of the newest `count` numbered checkpoints that are readable.
  CheckpointMean mean_of_last(std::int64_t count) const;

 private:
  void save(const std::filesystem::path& path, ProgressRecord& progress);
  FoundCheckpoint rollback_target(const ProgressRecord& diverged) const;

  const TrainingRun& run_;
  TrainingModel& model_;
  RunLog& log_;
  TrainingObserver& observer_;
  Warn warn_;
  std::int64_t numbered_update_ = 0;  // of the last checkpoint at an update count
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
};

}  // namespace dragoman
