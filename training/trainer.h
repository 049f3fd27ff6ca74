// The training loop (section 5): updates, and between them validation, checkpoints, and the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "data/batch_stream.h"
#include "training/checkpoint_keeper.h"
#include "training/cooldown.h"
#include "training/model_selection.h"
#include "training/outlook.h"
#include "training/ranks/communicator.h"
#include "training/run_log.h"
#include "training/running_mean.h"
#include "training/stop_reason.h"
#include "training/training_model.h"
#include "training/training_observer.h"
#include "training/training_run.h"

namespace dragoman {

/// Several ranks train as one: each takes its share of every update's batches, and all decide
/// alike, from what they have summed or rank 0 has said. Rank 0 alone validates, writes, and reads
/// checkpoints.
class Trainer {
 public:
  Trainer(TrainingRun run, Communicator& ranks, TrainingObserver& observer);

  /// Starts with the weights of a model file of this architecture; on rank 0, as resume().
  void start_from(const std::filesystem::path& model);
  /// Goes on from a checkpoint of this run; on rank 0, whose state train() hands to all ranks.
  void resume(const FoundCheckpoint& checkpoint);
  const ProgressRecord& progress() const { return progress_; }

  /// Trains until a limit or a stop request; then, unless stopped by request, validates the last
  /// weights, averages checkpoints and leaves the best model in the folder. Throws Error where the
  /// last state cannot be saved, or training has diverged.
  StopReason train(std::stop_token stop);

 private:
  void begin();
  StopReason make_updates(const std::stop_token& stop);
  /// At a limit; false where a stop was requested meanwhile.
  bool finish(const std::stop_token& stop);
  void save_stopped();

  /// Validations and checkpoints that are due at this update; false where a stop was requested
  /// during a validation, which is then still due when the run goes on.
  bool do_what_is_due(const std::stop_token& stop);
  bool validation_is_due() const;
  bool validate(const std::stop_token& stop);
  /// Whether the average of the last checkpoints has become the model.
  bool average(const std::stop_token& stop);

  void update();
  std::vector<PackedBatch> next_batches();
  /// The gradient of the next update. Where memory runs out the batches are split, and so are
  /// larger ones from then on. Throws Error where no split helps.
  BatchLoss accumulate(const std::vector<PackedBatch>& batches);
  double learning_rate_at(std::int64_t update) const;
  void leave_out(const std::vector<PackedBatch>& batches, double loss, double norm);
  /// To the last sound checkpoint, with half the rate and another order.
  void roll_back();
  void open_stream();

  void log_update();
  double seconds() const;  ///< of training and validation, over all starts
  RunPosition position(double seconds) const;
  RunPace pace() const;  ///< of this start

  const TrainingRun run_;
  Communicator& ranks_;
  TrainingObserver& observer_;
  TrainingModel model_;
  RunLog log_;
  CheckpointKeeper checkpoints_;
  ModelSelection selection_;
  ProgressRecord progress_;
  std::optional<BatchStream> stream_;

  std::chrono::steady_clock::time_point start_;  // of train()
  double seconds_before_ = 0;                    // of earlier starts
  LogInterval interval_;
  RunningMean update_seconds_, validation_seconds_;  // of this start
};

}  // namespace dragoman
