// The training loop (section 5): updates, and between them validation, checkpoints, and the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/stopwatch.h"
#include "training/checkpoint_keeper.h"
#include "training/cooldown.h"
#include "training/launched_updates.h"
#include "training/model_selection.h"
#include "training/outlook.h"
#include "training/ranks/communicator.h"
#include "training/run_log.h"
#include "training/running_mean.h"
#include "training/spike_limits.h"
#include "training/stop_reason.h"
#include "training/training_model.h"
#include "training/training_observer.h"
#include "training/training_run.h"
#include "training/update_batches.h"

namespace dragoman {

/// Several ranks train one model. Each computes its share of every update's batches. All ranks make
/// the same decisions, from sums over all ranks or from rank 0's answer. Only rank 0 validates and
/// reads and writes files. All calls are made on one thread.
class Trainer {
 public:
  Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer);

  /// Takes the weights of a model file that has this run's architecture. To be called on rank 0
  /// alone, before train(), which copies them to all ranks.
  void start_from(const std::filesystem::path& model);
  /// Takes the weights, moments and progress of a checkpoint of this run. To be called on rank 0
  /// alone, before train(), which copies them to all ranks.
  void resume(const FoundCheckpoint& checkpoint);
  const ProgressRecord& progress() const { return progress_; }

  /// Trains until a limit or a stop request. At a limit it validates the last weights, averages
  /// checkpoints and leaves the best model in the folder. After a stop request it saves the state.
  /// Then it scores the average of the checkpoints, if there is a best model. Throws Error where
  /// the last state cannot be saved, or training has diverged.
  StopReason train(std::stop_token stop);

 private:
  void begin();
  StopReason make_updates(const std::stop_token& stop);
  /// Ends the run at a limit, after its last validation: average and model. Rank 0. Returns false
  /// where a stop was requested meanwhile.
  bool finish(const std::stop_token& stop);
  void save_stopped();

  /// Each validate function returns false where a stop was requested meanwhile. The validation is
  /// then still due when the run goes on. Where the run has diverged, the history says so.
  bool validate_if_due(const std::stop_token& stop);
  /// Of the last weights, if they are not validated yet.
  bool validate_last(const std::stop_token& stop);
  bool validate_on_rank_0(const std::stop_token& stop);
  bool validate(const std::stop_token& stop);
  bool validation_is_due() const;
  void save_if_due();
  /// Scores the average of the last checkpoints, and makes it the model where it is better. Returns
  /// whether it did.
  bool average_checkpoints(const std::stop_token& stop);

  /// Launches the next update. Its result is read by read_launched(), at once or later.
  void update();
  /// The gradient of the next update. Where memory runs out the batches are split, and so are
  /// larger ones from then on. Throws Error where no split helps.
  DeviceLoss accumulate(const std::vector<PackedBatch>& batches);
  double learning_rate_at(std::int64_t update) const;
  /// The progress if the results of all launched updates were read: its update and its place in the
  /// data.
  ProgressRecord launched_progress() const;
  std::int64_t last_launched() const;
  /// Whether the next update may be launched before the last one's result is known: nothing that
  /// needs it comes between the two.
  bool may_run_ahead(double seconds) const;
  /// Reads the results of the launched updates. Then none is under way, and `progress_` is the
  /// state of the weights, unless the run has diverged. Logs if that is due.
  void read_launched();
  /// Adds the results to the progress, up to an update at which the run has diverged: the rest is
  /// forgotten.
  void note_results();
  void note(const LaunchedUpdate& update, const UpdateResult& result);
  void report_left_out(const std::vector<std::int64_t>& sentences, double loss, double norm);
  /// Returns to the last sound checkpoint, with half the learning rate and another text order.
  void roll_back();
  /// Makes the next update the one behind the progress.
  void go_on();

  void log_update();
  double seconds() const;  ///< of the run up to now, over all starts; call after begin()
  RunPosition run_position(double seconds) const;
  RunPace pace() const;  ///< speed since this start

  const TrainingRun run_;
  Communicator& ranks_;
  TrainingObserver& observer_;
  TrainingModel model_;
  RunLog log_;
  CheckpointKeeper checkpoints_;
  ModelSelection selection_;
  ProgressRecord progress_;  // without the launched updates
  UpdateBatches batches_;
  std::optional<SpikeLimits> limits_;  // with the launched updates, like the weights
  std::vector<LaunchedUpdate> launched_;
  double launch_began_ = 0;  // of the first of these, in seconds()

  Stopwatch since_beginning_;  // of train()
  double seconds_before_ = 0;  // of earlier starts
  LogInterval interval_;
  RunningMean update_seconds_, validation_seconds_;  // of this start
};

}  // namespace dragoman
