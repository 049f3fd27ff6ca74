#include "training/split_update.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "data/batch_parts.h"

namespace dragoman {

std::optional<BatchLoss> try_to_accumulate(TrainingModel& model,
                                           std::span<const PackedBatch> batches,
                                           const UpdatePart& part) {
  BatchLoss sums;
  try {
    for (const PackedBatch& batch : batches)
      for (const PackedBatch& piece : parts_of(batch, part.token_budget))
        sums += model.accumulate(piece, part.loss, part.update);
    return sums;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  model.forget_gradient();
  give_back_freed_memory();
  return std::nullopt;
}

std::int64_t lowered_budget(std::span<const PackedBatch> batches, std::int64_t token_budget) {
  std::int64_t largest = 0, longest = 0;
  for (const PackedBatch& batch : batches)
    for (const PackedBatch& part : parts_of(batch, token_budget)) {
      longest = std::max(longest, largest_side(part));
      if (part.sentences.size() > 1) largest = std::max(largest, largest_side(part));
    }
  if (largest == 0)
    throw Error("not enough memory for a batch of one pair with ", longest,
                " pieces on a side; a lower --max-length or a smaller model needs less");
  return (largest + 1) / 2;
}

BatchLoss evaluate_in_parts(TrainingModel& model, std::span<const PackedBatch> batches) {
  for (std::int64_t token_budget = 0;; token_budget = lowered_budget(batches, token_budget)) {
    try {
      BatchLoss sums;
      for (const PackedBatch& batch : batches)
        for (const PackedBatch& part : parts_of(batch, token_budget)) sums += model.evaluate(part);
      return sums;
    } catch (const std::exception& problem) {
      if (!is_out_of_memory(problem)) throw;
    }
    give_back_freed_memory();
  }
}

}  // namespace dragoman
