// Which weights a run keeps as its model, model.safetensors: those of the best validation so far,
// and at the end the average of the last checkpoints where that is better. Without a validation
// text, the last weights. Of rank 0.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "training/checkpoint_keeper.h"
#include "training/run_log.h"
#include "training/training_observer.h"
#include "training/training_run.h"
#include "training/validation.h"

namespace dragoman {

class ModelSelection {
 public:
  /// All outlive the selection.
  ModelSelection(const TrainingRun& run, TrainingModel& model, RunLog& log,
                 TrainingObserver& observer);

  /// Whether there is a validation text.
  bool validates() const { return !validator_.empty(); }

  /// Scores the model's averaged weights, writes them where they are the best so far, and notes
  /// both in the progress. Returns the seconds that the scores took; nothing, and nothing is noted,
  /// where a stop was requested meanwhile. Throws Error where the loss is not finite, or a model to
  /// start with cannot be saved.
  std::optional<double> validate(ProgressRecord& progress, std::stop_token stop);
  /// Keeps the average as the model where it scores better, and notes that. Returns whether it has.
  bool average(const CheckpointMean& mean, ProgressRecord& progress, std::stop_token stop);
  /// Of a run without a validation text. Throws Error, as the next.
  void take_last_weights(const ProgressRecord& progress);
  /// A model that has been lost or damaged since it was written is made anew from the best
  /// checkpoint, or from the newest that can be read.
  void restore_if_lost(const ProgressRecord& progress);

 private:
  Scores scores_of(const torch::Tensor& weights, const ProgressRecord& progress,
                   std::stop_token stop);
  void write(const std::filesystem::path& path, const torch::Tensor& weights,
             const Provenance& provenance);
  /// The run's provenance with what these weights have of their own.
  Provenance provenance_of(const ProgressRecord& progress, const ValidationResult& result) const;
  std::vector<TranslatedSample> samples_of(const ValidationResult& result) const;

  const TrainingRun& run_;
  TrainingModel& model_;
  RunLog& log_;
  TrainingObserver& observer_;
  Validator validator_, keep_validator_;
};

}  // namespace dragoman
