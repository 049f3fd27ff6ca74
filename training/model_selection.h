// Chooses the weights of model.safetensors: those of the best validation so far, or at the end the
// average of the last checkpoints if that scores better. Without a validation text it takes the
// last weights. Only rank 0 calls it.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "training/checkpoint.h"
#include "training/run_log.h"
#include "training/training_run.h"
#include "training/validation.h"

namespace dragoman {

class ModelSelection {
 public:
  /// The arguments must outlive the selection.
  ModelSelection(const TrainingRun& run, TrainingModel& model, RunLog& log,
                 TrainingObserver& observer);

  /// Whether there is a validation text.
  bool validates() const { return !validator_.empty(); }

  /// Throws Error if a validation would need more memory than there is.
  void require_memory() const;
  /// Scores the model's output weights, writes them if they are the best so far, and notes both in
  /// the progress. Returns the seconds that the scores took. If a stop was requested meanwhile, it
  /// notes and returns nothing. Throws LossNotFinite, and Error if the model of --init-from cannot
  /// be saved.
  std::optional<double> validate(ProgressRecord& progress, std::stop_token stop);
  /// Keeps the average as the model if it scores better, and notes that. Returns whether it was
  /// kept.
  bool take_average_if_better(const CheckpointMean& mean, ProgressRecord& progress,
                              std::stop_token stop);
  /// Saves the current weights as the model, in a run without a validation text. This and the next
  /// function throw Error if the file cannot be written.
  void take_last_weights(const ProgressRecord& progress);
  /// Makes a model again that has been lost or damaged since it was written: from best.safetensors,
  /// else from the checkpoint of the best update, else from the newest that can be read.
  void restore_if_lost(const ProgressRecord& progress);

 private:
  Scores scores_of(const torch::Tensor& weights, const ProgressRecord& progress,
                   std::stop_token stop);
  /// Writes best.safetensors and then the model. If the model cannot be written, it stays the one
  /// that the record knows, and the next one overwrites best.safetensors.
  void write_as_model(const torch::Tensor& weights, const Provenance& provenance);
  void write(const std::filesystem::path& path, const torch::Tensor& weights,
             const Provenance& provenance);
  /// The run's provenance, with the update and the scores of these weights. `result` is null if
  /// they have no scores.
  Provenance provenance_of(const ProgressRecord& progress, const ValidationResult* result) const;
  std::vector<TranslatedSample> samples_of(const ValidationResult& result) const;

  const TrainingRun& run_;
  TrainingModel& model_;
  RunLog& log_;
  TrainingObserver& observer_;
  CorpusLosses corpus_losses_;
  Validator validator_, keep_validator_;
};

}  // namespace dragoman
