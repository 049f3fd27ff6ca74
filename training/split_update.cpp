#include "training/split_update.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "data/batch_parts.h"
#include "model/attention_memory.h"
#include "model/side_by_side.h"

namespace dragoman {

namespace {

/// A thread's share of a batch is not smaller than this: products with fewer rows take longer.
constexpr std::int64_t kTokensPerShare = 512;

/// Of attention on the CPU, where it is too much to be taken unasked; other devices tell when
/// theirs has run out.
std::int64_t memory_of(TrainingModel& model, const PackedBatch& batch, Precision precision,
                       Pass pass) {
  if (!model.weights().is_cpu()) return 0;
  return attention_memory(model.config(), {batch.source.starts, batch.target.starts},
                          precision == Precision::Bf16 ? 2 : 4, pass);
}

BatchLoss accumulate(TrainingModel& model, const PackedBatch& batch, const UpdatePart& part) {
  const std::int64_t passes = part.loss.r_drop > 0 ? 2 : 1;
  require_memory(passes * memory_of(model, batch, part.precision, Pass::Training));
  return model.accumulate(batch, part.loss, part.update);
}

/// On the CPU threads take batches, or shares of them. One that may take much of the memory comes
/// alone.
BatchLoss losses_of(TrainingModel& model, std::span<const PackedBatch> batches) {
  const std::int64_t threads = model.weights().is_cpu() ? at::get_num_threads() : 1;
  BatchLoss sums;
  std::vector<PackedBatch> shares;
  for (const PackedBatch& batch : batches) {
    const std::int64_t bytes = memory_of(model, batch, Precision::Fp32, Pass::Forward);
    if (threads == 1 || bytes > 0) {
      require_memory(bytes);
      sums += model.evaluate(batch);
      continue;
    }
    const std::int64_t count =
        std::clamp<std::int64_t>(largest_side(batch) / kTokensPerShare, 1, threads);
    for (PackedBatch& share : equal_parts_of(batch, count)) shares.push_back(std::move(share));
  }
  std::vector<BatchLoss> losses(shares.size());
  std::atomic<std::size_t> next = 0;
  WorkerTeam team;
  if (!shares.empty())
    run_side_by_side(team, static_cast<std::size_t>(threads), [&](std::size_t) {
      for (std::size_t i; (i = next++) < shares.size();) losses[i] = model.evaluate(shares[i]);
    });
  for (const BatchLoss& share : losses) sums += share;
  return sums;
}

}  // namespace

std::optional<BatchLoss> try_to_accumulate(TrainingModel& model,
                                           std::span<const PackedBatch> batches,
                                           const UpdatePart& part) {
  BatchLoss sums;
  try {
    for (const PackedBatch& batch : batches)
      for (const PackedBatch& piece : parts_of(batch, part.token_budget))
        sums += accumulate(model, piece, part);
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
      std::vector<PackedBatch> parts;
      for (const PackedBatch& batch : batches)
        for (PackedBatch& part : parts_of(batch, token_budget)) parts.push_back(std::move(part));
      return losses_of(model, parts);
    } catch (const std::exception& problem) {
      if (!is_out_of_memory(problem)) throw;
    }
    give_back_freed_memory();
  }
}

}  // namespace dragoman
