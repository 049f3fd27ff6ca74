// The time and memory that updates take on this machine: trains a model on a few batches of the
// real corpus, and throws it away.
#pragma once

#include <cstdint>
#include <stop_token>

#include "data/batch_stream.h"
#include "training/train_config.h"
#include "training/training_model.h"

namespace dragoman {

/// Model, corpus and device of a trial; they must outlive it. The trial throws PreparationStopped
/// where a stop is requested meanwhile.
struct TrialSettings {
  const TrainConfig& config;
  const ModelConfig& model;
  Precision precision;  ///< resolved
  torch::Device device;
  const Corpus& corpus;
  EndIds ends;
  bool validates = true;  ///< whether there is a validation text
  std::stop_token stop = {};
};

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
  /// The plan of an epoch with this token budget.
  PlanConfig plan(std::int64_t max_tokens) const;
  double step_seconds();  ///< of the optimizer

  /// The peak of memory so far beside weights, moments and gradients, in bytes.
  std::int64_t peak_growth() const;
  const FlatLayout& layout() const { return model_.layout(); }
  /// Threads that have had a share of a batch, each with a gradient and logits of its own.
  std::int64_t shares() const { return model_.replicas(); }

 private:
  BatchCost measure(const std::vector<PackedBatch>& batches);

  TrialSettings settings_;
  TrainingModel model_;
  std::int64_t before_ = 0;  // resident
  std::int64_t update_ = 0;
};

}  // namespace dragoman
