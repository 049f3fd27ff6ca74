// The forward and backward passes of an update, in parts where memory does not suffice for whole
// batches. Gradients are sums over sentences, so the update is the same, up to the order of sums.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "training/training_model.h"

namespace dragoman {

/// The settings of try_to_accumulate().
struct AccumulateConfig {
  std::int64_t update = 0;
  LossConfig loss;
  std::int64_t part_tokens = 0;           ///< of a part, as in partition(); 0: batches stay whole
  Precision precision = Precision::Fp32;  ///< the model's
};

/// Adds the gradients of all batches to the model's. Returns nothing where memory has run out, or
/// would run out in the attention of a long sentence. The model's gradient is then cleared.
std::optional<DeviceLoss> try_to_accumulate(TrainingModel& model,
                                            std::span<const PackedBatch> batches,
                                            const AccumulateConfig& config);

/// The next part_tokens to try: half the tokens of the largest part that has more than one
/// sentence. Throws Error where no part has.
std::int64_t lowered_part_tokens(std::span<const PackedBatch> batches, std::int64_t part_tokens);

/// Throws Error where a pair of these batches, computed alone, needs more memory in evaluation than
/// there is. `text` names the batches in the message.
void require_memory_to_evaluate(TrainingModel& model, std::span<const PackedBatch> batches,
                                std::string_view text);

/// The losses of all batches under master(), without gradients. Batches are split where memory has
/// run out. On the CPU each thread computes shares of its own.
BatchLoss evaluate_in_parts(TrainingModel& model, std::span<const PackedBatch> batches);

}  // namespace dragoman
