#include "training/split_update.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "data/batch_partition.h"
#include "model/attention_memory.h"
#include "model/side_by_side.h"

namespace dragoman {

namespace {

/// Bytes of attention scores on the CPU, which must be checked before they are taken: the system
/// kills a process that takes too much. Other devices report an error instead: 0.
std::int64_t memory_of(TrainingModel& model, const BatchView& batch, Precision precision,
                       Pass pass) {
  if (!model.weights().is_cpu()) return 0;
  return attention_memory(model.config(), {batch.source.starts, batch.target.starts},
                          precision == Precision::Bf16 ? 2 : 4, pass);
}

std::vector<BatchPart> parts_of(TrainingModel& model, std::span<const PackedBatch> batches,
                                std::int64_t part_tokens) {
  std::vector<BatchPart> parts;
  for (const PackedBatch& batch : batches)
    for (BatchPart& part :
         partition(batch, {.part_tokens = part_tokens, .threads = model.threads()}))
      parts.push_back(std::move(part));
  return parts;
}

/// On the CPU the threads take shares of all parts. A part with padded attention is computed alone.
BatchLoss losses_of(TrainingModel& model, std::span<const BatchPart> parts) {
  BatchLoss sums;
  std::vector<BatchView> shares;
  for (const BatchPart& part : parts) {
    const std::int64_t bytes = memory_of(model, part.whole, Precision::Fp32, Pass::Forward);
    if (model.threads() > 1 && bytes == 0) {
      shares.insert(shares.end(), part.shares.begin(), part.shares.end());
      continue;
    }
    require_memory(bytes);
    sums += model.evaluate(part.whole);
  }
  std::vector<BatchLoss> losses(shares.size());
  std::atomic<std::size_t> next = 0;
  ThreadTeam team;
  if (!shares.empty())
    run_side_by_side(team, static_cast<std::size_t>(model.threads()), [&](std::size_t) {
      for (std::size_t i; (i = next++) < shares.size();) losses[i] = model.evaluate(shares[i]);
    });
  for (const BatchLoss& share : losses) sums += share;
  return sums;
}

}  // namespace

std::optional<DeviceLoss> try_to_accumulate(TrainingModel& model,
                                            std::span<const PackedBatch> batches,
                                            const AccumulateConfig& config) {
  DeviceLoss sums;
  try {
    const std::vector<BatchPart> parts = parts_of(model, batches, config.part_tokens);
    for (const BatchPart& part : parts) {
      std::int64_t bytes = 0;  // of all shares, as they are computed side by side
      for (const BatchView& share : part.shares)
        bytes += memory_of(model, share, config.precision, Pass::Training);
      const std::int64_t passes = config.loss.r_drop > 0 ? 2 : 1;
      require_memory(passes * bytes);
      sums += model.accumulate(part.shares, config.loss, config.update, &part == &parts.back());
    }
    model.hand_over_rest();
    return sums;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  model.forget_gradient();
  give_back_freed_memory();
  return std::nullopt;
}

std::int64_t lowered_part_tokens(std::span<const PackedBatch> batches, std::int64_t part_tokens) {
  std::int64_t largest = 0, longest = 0;
  for (const PackedBatch& batch : batches)
    for (const BatchPart& part : partition(batch, {.part_tokens = part_tokens})) {
      const std::int64_t tokens = part.whole.largest_side();
      longest = std::max(longest, tokens);
      if (part.whole.sentences.size() > 1) largest = std::max(largest, tokens);
    }
  if (largest == 0)
    throw Error("not enough memory for a batch of one pair with ", longest,
                " pieces on a side; a lower --max-length or a smaller model needs less");
  return (largest + 1) / 2;
}

void require_memory_to_evaluate(TrainingModel& model, std::span<const PackedBatch> batches,
                                std::string_view text) {
  for (const PackedBatch& batch : batches)
    for (const BatchPart& pair : partition(batch, {.part_tokens = 1})) {
      const std::int64_t bytes = memory_of(model, pair.whole, Precision::Fp32, Pass::Forward);
      if (bytes > 0 && bytes > available_memory())
        throw Error(text, ": not enough memory for a pair with ", pair.whole.largest_side(),
                    " pieces on a side; a lower --max-length leaves it out of the loss");
    }
}

BatchLoss evaluate_in_parts(TrainingModel& model, std::span<const PackedBatch> batches) {
  for (std::int64_t part_tokens = 0;; part_tokens = lowered_part_tokens(batches, part_tokens)) {
    try {
      return losses_of(model, parts_of(model, batches, part_tokens));
    } catch (const std::exception& problem) {
      if (!is_out_of_memory(problem)) throw;
    }
    give_back_freed_memory();
  }
}

}  // namespace dragoman
