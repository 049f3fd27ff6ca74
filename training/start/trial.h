// The cost of updates on this machine: their speed before there is a corpus, on random sentences;
// their time and memory on a few batches of the corpus (Trial); from these the token budget of
// --max-tokens auto on a GPU, and train --plan.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "data/epoch_plan.h"
#include "data/packed_batch.h"
#include "data/prepare.h"
#include "model/file/model_config.h"
#include "training/settings/stopping.h"
#include "training/settings/train_config.h"
#include "training/training_model.h"

namespace dragoman {

// ---- speed without a corpus ---------------------------------------------------------------------

struct SpeedSettings {
  const ModelConfig& model;
  Precision precision;  ///< resolved
  torch::Device device;
  RandomText text;
  LossConfig loss;
  std::int64_t update_freq;  ///< batches of an update
  std::stop_token stop = {};
};

/// The speed of whole updates in target tokens a second, from a few batches after a first one that
/// is not timed. The sentences are random, because there is no tokenizer and no corpus yet. 0 if
/// memory does not suffice. Throws PreparationStopped if a stop is requested meanwhile.
double measured_speed(const SpeedSettings& settings);

// ---- trials on the corpus -----------------------------------------------------------------------

/// Model, data and device of a trial; they must outlive it. The trial throws PreparationStopped if
/// a stop is requested meanwhile.
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
/// with the budget for pairs that are encoded again in each epoch.
EpochPlan first_epoch(const TrialSettings& settings);
/// The updates of that epoch, at least 1.
double updates_of(const EpochPlan& epoch, const TrialSettings& settings);

struct BatchCost {
  double target_tokens_per_second = 0;  ///< of forward and backward passes
  double seconds = 0;                   ///< of a batch, on average
};

/// Trains a model on a few batches of the real corpus, and throws it away.
class Trial {
 public:
  explicit Trial(const TrialSettings& settings);

  /// The mean over a few batches of the first epoch, each by the median of its times.
  BatchCost usual_batches();
  /// The batch of the longest sentences, which takes the most memory.
  BatchCost longest_batch();
  /// The seconds of an update of such batches, the optimizer's step included.
  double seconds_per_update(const BatchCost& batches);
  /// The most memory of a GPU that an update of the largest batch takes with this token budget, in
  /// bytes, weights and moments included. Nothing if it does not suffice.
  std::optional<std::int64_t> device_memory(std::int64_t max_tokens);

  /// The peak of memory so far besides weights, moments and gradients, in bytes.
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

// ---- --max-tokens auto: the token budget of a GPU -----------------------------------------------

struct BudgetTrial {
  std::int64_t max_tokens = 0;
  /// The most bytes of the GPU that an update took; nothing if they did not suffice.
  std::optional<std::int64_t> memory = {};
};

struct ChosenBudget {
  std::int64_t max_tokens = 0;
  std::vector<BudgetTrial> trials = {};  ///< in the order in which they were made
};

using MemoryOfBudget = std::function<std::optional<std::int64_t>(std::int64_t max_tokens)>;

/// A budget of at most `largest` whose update took at most `memory` bytes, as near to that as a few
/// trials come: 1,024 and 2,048 first, then the one that the line through the last two trials
/// leads to, but at most four times the last that fitted. If even the first does not fit, it is
/// chosen.
ChosenBudget largest_budget(const MemoryOfBudget& memory_of, std::int64_t memory,
                            std::int64_t largest);

/// The budget of a run on a GPU: updates take 90 % of the GPU's memory, or 45 % with
/// --device-graph, which keeps the memory of the update that it has recorded. An epoch has at least
/// 50 batches.
ChosenBudget largest_budget(const TrialSettings& settings);

// ---- train --plan -------------------------------------------------------------------------------

/// Bytes.
struct MemoryPlan {
  std::int64_t weights = 0;       ///< fp32, and their moving average with --ema
  std::int64_t moments = 0;       ///< of Adam
  std::int64_t gradients = 0;     ///< their sum, and those of each thread
  std::int64_t compute_copy = 0;  ///< the weights in bf16
  std::int64_t logits = 0;        ///< of a chunk of the loss
  std::int64_t activations = 0;   ///< and all other memory of the largest batch, as measured

  std::int64_t total() const {
    return weights + moments + gradients + compute_copy + logits + activations;
  }
};

struct RunPlan {
  std::int64_t parameters = 0;
  MemoryPlan memory;
  std::int64_t resident = 0;  ///< bytes that the program and its text took before, besides `memory`
  BatchCost usual, longest;
  double updates_per_epoch = 0;
  double seconds_per_update = 0;
  Outlook outlook;                    ///< before the first update, without validations
  std::int64_t checkpoint_bytes = 0;  ///< of one
  std::int64_t disk_bytes = 0;  ///< of all that are there at once, and the models; no token cache
};

/// The memory, disk space and time that a run will take, by a trial.
RunPlan plan_run(const TrialSettings& settings);

}  // namespace dragoman
