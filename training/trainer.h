// The training loop (section 5): updates, and between them validation, checkpoints, and the end.
// Several ranks train one model. All ranks make the same calls in the same order, and the same
// decisions, from sums over all ranks or from rank 0's answer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <vector>

#include "base/machine.h"
#include "training/checkpoint.h"
#include "training/model_selection.h"
#include "training/ranks/communicator.h"
#include "training/run_log.h"
#include "training/settings/progress_record.h"
#include "training/settings/stopping.h"
#include "training/training_model.h"
#include "training/training_run.h"
#include "training/update.h"

namespace dragoman {

/// The mean of a quantity that may change slowly: of all values at first, later of about the last
/// 100.
class RunningMean {
 public:
  void add(double value) {
    ++count_;
    const double weight = std::max(1.0 / static_cast<double>(count_), kLeastWeight);
    mean_ += weight * (value - mean_);
  }
  double value() const { return mean_; }  ///< 0 before the first value

 private:
  static constexpr double kLeastWeight = 0.01;
  double mean_ = 0;
  std::int64_t count_ = 0;
};

/// Each rank computes its share of every update's batches. Only rank 0 validates and reads and
/// writes files. All calls are made on one thread.
class Trainer {
 public:
  Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer);

  /// Takes the weights of a model file that has this run's architecture. Call it on rank 0
  /// alone, before train(), which copies them to all ranks.
  void start_from(const std::filesystem::path& model);
  /// Takes the weights, moments and progress of a checkpoint of this run. Call it on rank 0
  /// alone, before train(), which copies them to all ranks.
  void resume(const FoundCheckpoint& checkpoint);
  const ProgressRecord& progress() const { return progress_; }

  /// Trains until a limit or a stop request. At a limit it validates the last weights, averages
  /// checkpoints and leaves the best model in the folder. After a stop request it saves the state,
  /// and then scores the average of the checkpoints if there is a best model. Throws Error if the
  /// last state cannot be saved, or training has diverged.
  StopReason train(std::stop_token stop);

 private:
  void begin();
  StopReason make_updates(const std::stop_token& stop);
  /// Ends the run at a limit, after its last validation, on rank 0: makes the average and the
  /// model. Returns false if a stop was requested meanwhile.
  bool finish(const std::stop_token& stop);
  void save_stopped();

  bool validation_is_due() const;
  /// Both functions return false if a stop was requested meanwhile. The validation is then still
  /// due when the run is resumed. If the run has diverged, the history says so.
  bool validate_on_rank_0(const std::stop_token& stop);
  bool validate(const std::stop_token& stop);
  /// Begins the next stage of --mix if the current one has ended.
  void begin_stage_if_due();
  void save_if_due();
  /// Scores the average of the last checkpoints, and makes it the model if it is better. Returns
  /// whether it did.
  bool average_checkpoints(const std::stop_token& stop);

  /// Launches the next update. Its result is read by read_launched(), at once or later.
  void update();
  /// Computes the gradient of the next update. If memory runs out, the batches are split, and from
  /// then on all batches that are larger than that. Throws Error if no split helps.
  DeviceLoss compute_gradient(const std::vector<PackedBatch>& batches);
  double learning_rate_at(std::int64_t update) const;
  /// The update and the place in the data that the progress will have when the results of all
  /// launched updates are read.
  ProgressRecord launched_progress() const;
  std::int64_t last_launched() const;
  /// Whether the next update may be launched before the last one's result is known, because nothing
  /// between the two needs it.
  bool may_run_ahead(double seconds) const;
  /// Reads the results of the launched updates. After that no update is under way, and `progress_`
  /// is the state of the weights, unless the run has diverged. Logs if that is due.
  void read_launched();
  /// Adds the results to the progress, up to the update at which the run has diverged, if there is
  /// one; later results are forgotten.
  void note_results();
  void note(const LaunchedUpdate& update, const UpdateResult& result);
  void report_left_out(const std::vector<std::int64_t>& sentences, double loss, double norm);
  /// Returns to the last sound checkpoint, with half the learning rate and another text order.
  void roll_back();
  /// Makes the next update the one after the progress.
  void continue_from_progress();

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
  SpikeLimits limits_;  // with the launched updates, like the weights
  std::vector<LaunchedUpdate> launched_;
  double launch_began_ = 0;  // of the first of these, in seconds()

  Stopwatch since_beginning_;  // of train()
  double seconds_before_ = 0;  // of earlier starts
  LogInterval interval_;
  RunningMean update_seconds_, validation_seconds_;  // of this start
};

// ---- the same state on all ranks; with one rank nothing is sent ---------------------------------

/// All ranks get rank 0's weights, moments and progress record. A rank that has already lowered its
/// part_tokens keeps them: memory may differ.
void share_state(Communicator& ranks, TrainingModel& model, ProgressRecord& progress);

/// Calls work() on rank 0 alone. Then all ranks return its answer and have its progress record;
/// each keeps its own part_tokens.
bool on_rank_0(Communicator& ranks, ProgressRecord& progress, const std::function<bool()>& work);

/// The sums of the losses of all ranks.
DeviceLoss sum_over_ranks(Communicator& ranks, DeviceLoss loss);

struct StopAndClock {
  bool stop = false;   ///< a stop was requested on some rank
  double seconds = 0;  ///< of the run so far: the mean of the ranks' clocks
};
StopAndClock stop_and_clock_of_all(Communicator& ranks, bool stop_requested, double seconds);

}  // namespace dragoman
