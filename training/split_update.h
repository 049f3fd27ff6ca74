// An update for which memory does not suffice is made in parts: gradients are sums over sentences,
// so that it stays the same update, up to the order of sums.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "training/training_model.h"

namespace dragoman {

/// What a batch adds to, and how large its parts may be.
struct UpdatePart {
  std::int64_t update = 0;
  LossConfig loss;
  std::int64_t token_budget = 0;          ///< of a part, as in partition(); 0: batches stay whole
  Precision precision = Precision::Fp32;  ///< the model's
};

/// Accumulates all batches of an update; empty where memory has run out, or would in the attention
/// of a long sentence: then no gradient is left.
std::optional<BatchLoss> try_to_accumulate(TrainingModel& model,
                                           std::span<const PackedBatch> batches,
                                           const UpdatePart& part);

/// Half of the largest part that can still be split. Throws Error where none can.
std::int64_t lowered_budget(std::span<const PackedBatch> batches, std::int64_t token_budget);

/// The losses of all batches without gradients, in parts where memory has run out. On the CPU
/// threads share the batches, not each operation.
BatchLoss evaluate_in_parts(TrainingModel& model, std::span<const PackedBatch> batches);

}  // namespace dragoman
