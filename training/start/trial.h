// The time and memory that updates take on this machine: trains a model on a few batches of the
// real corpus, and throws it away.
#pragma once

#include <cstdint>
#include <stop_token>

#include "data/epoch_plan.h"
#include "data/prepare.h"
#include "training/train_config.h"
#include "training/training_model.h"

namespace dragoman {

/// Model, data and device of a trial; they must outlive it. The trial throws PreparationStopped
/// where a stop is requested meanwhile.
struct TrialSettings {
  const TrainConfig& config;
  const ModelConfig& model;
  Precision precision;  ///< resolved
  torch::Device device;
  const PreparedData& data;
  int ranks = 1;  ///< that will train together; the trial is of one
  std::stop_token stop = {};

  bool validates() const { return !data.valid.source_lines.empty(); }
};

/// The batches of the first epoch as the run will have them: with the weights of its texts, and
/// with the budget for pairs that are encoded anew.
EpochPlan first_epoch(const TrialSettings& settings, std::int64_t max_tokens);
/// At least 1.
double updates_of(const EpochPlan& epoch, const TrialSettings& settings);

struct BatchCost {
  double target_tokens_per_second = 0;  ///< of forward and backward passes
  double seconds = 0;                   ///< of a batch, on average
};

class Trial {
 public:
  explicit Trial(const TrialSettings& settings);

  /// The mean over a few batches of an epoch with this token budget.
  BatchCost usual_batches(std::int64_t max_tokens);
  /// The batch of the longest sentences, which takes the most memory.
  BatchCost longest_batch(std::int64_t max_tokens);
  double step_seconds();  ///< of the optimizer

  /// The peak of memory so far beside weights, moments and gradients, in bytes.
  std::int64_t peak_growth() const;
  const FlatLayout& layout() const { return model_.layout(); }
  /// Threads that have had a share of a batch, each with a gradient and logits of its own.
  std::int64_t shares() const { return model_.replicas(); }

 private:
  BatchCost cost_of(const std::vector<PackedBatch>& batches);

  TrialSettings settings_;
  TrainingModel model_;
  std::int64_t before_ = 0;  // resident
  std::int64_t update_ = 0;
};

}  // namespace dragoman
