// An update from its batches to its result. UpdateBatches has the text; try_to_accumulate()
// computes the gradient, in parts if memory does not suffice for whole batches; read_results()
// tells the host what became of it. The same parts serve a validation.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "data/batch_stream.h"
#include "training/settings/progress_record.h"
#include "training/training_model.h"
#include "training/training_run.h"

namespace dragoman {

// ---- the batches --------------------------------------------------------------------------------

/// The training text of a run as the batches of its updates, for one rank.
class UpdateBatches {
 public:
  /// The run outlives this object.
  UpdateBatches(const TrainingRun& run, BatchShare share) : run_(run), share_(share) {}

  /// Continues from the place of the progress. Each rollback begins another order of the same text.
  /// Call it before any other function.
  void open(const ProgressRecord& progress);

  /// The batches of the next update.
  std::vector<PackedBatch> next();
  /// Where the next update begins.
  DataPosition position() const { return stream_->position(); }
  /// Passes over the text up to position().
  double epochs() const;
  double updates_per_epoch() const;
  /// The time that next() has waited since open().
  double waited_seconds() const { return stream_->waited_seconds(); }

 private:
  const TrainingRun& run_;
  BatchShare share_;
  std::optional<BatchStream> stream_;
};

// ---- the gradient, in parts ---------------------------------------------------------------------
//
// Gradients are sums over sentences, so an update in parts is the same, up to the order of sums.

/// The settings of try_to_accumulate().
struct AccumulateConfig {
  std::int64_t update = 0;
  LossConfig loss = {};
  std::int64_t part_tokens = 0;  ///< of a part, as in partition(); 0: batches stay whole
};

/// Adds the gradients of all batches to the model's. Returns nothing if memory has run out, or
/// would run out in the attention of a long sentence. The model's gradient is then cleared.
std::optional<DeviceLoss> try_to_accumulate(TrainingModel& model,
                                            std::span<const PackedBatch> batches,
                                            const AccumulateConfig& config);

/// The next part_tokens to try: half the tokens of the largest part that has more than one
/// sentence. Throws Error if no part has.
std::int64_t lowered_part_tokens(std::span<const PackedBatch> batches, std::int64_t part_tokens);

/// Throws Error if evaluating one pair of these batches alone needs more memory than there is.
/// `text` names the batches in the message.
void require_memory_to_evaluate(TrainingModel& model, std::span<const PackedBatch> batches,
                                std::string_view text);

/// The losses of all batches under master(), without gradients. Batches are split if memory runs
/// out. On the CPU each thread computes shares of its own.
BatchLoss evaluate_in_parts(TrainingModel& model, std::span<const PackedBatch> batches);

// ---- the result ---------------------------------------------------------------------------------
//
// The host gives a device several updates before it reads the result of the first, because each
// answer costs a wait.

/// An update whose result the host has not read.
struct LaunchedUpdate {
  DeviceLoss loss;  ///< of all ranks; its values are those of the step
  StepResult step;
  std::vector<std::int64_t> sentences;  ///< of this rank
  DataPosition position;                ///< of the batch after it
};

struct UpdateResult {
  BatchLoss loss;
  double gradient_norm = 0;  ///< before clipping
  bool made = false;         ///< false: it was left out
};

/// The results of all updates. Waits for the device once.
std::vector<UpdateResult> read_results(const std::vector<LaunchedUpdate>& updates);

}  // namespace dragoman
