#include "training/update.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/machine.h"
#include "base/random.h"
#include "data/packed_batch.h"
#include "model/device.h"

namespace dragoman {

// ---- the batches --------------------------------------------------------------------------------

void UpdateBatches::open(const ProgressRecord& progress) {
  PlanConfig plan =
      run_.config.epoch_plan(run_.data.stages(progress.stage.number, progress.stage.first_epoch));
  if (progress.rollbacks > 0)
    plan.seed = random_bits(plan.seed, static_cast<std::uint64_t>(progress.rollbacks));
  plan.threads = run_.threads;
  stream_.emplace(
      run_.data.train, plan, end_ids(run_.data.tokenizers),
      DataPosition{progress.epoch, progress.batch},
      StreamOptions{.supplements = {run_.data.encoder, run_.data.alignments}, .share = share_});
}

std::vector<PackedBatch> UpdateBatches::next() {
  std::vector<PackedBatch> batches;
  for (std::int64_t i = 0; i < run_.config.update_freq; ++i) batches.push_back(stream_->next());
  return batches;
}

double UpdateBatches::epochs() const {
  const DataPosition position = stream_->position();
  return static_cast<double>(position.epoch) +
         static_cast<double>(position.batch) / static_cast<double>(stream_->batches_in_epoch());
}

double UpdateBatches::updates_per_epoch() const {
  return static_cast<double>(stream_->batches_in_epoch()) /
         static_cast<double>(run_.config.update_freq * share_.size);
}

// ---- the gradient, in parts ---------------------------------------------------------------------

namespace {

/// Bytes of attention scores on the CPU; 0 on other devices, which report an error when memory runs
/// out. The CPU's must be checked before they are taken: the system kills a process that takes too
/// much.
std::int64_t memory_of(TrainingModel& model, const BatchView& batch, Pass pass) {
  if (!model.weights().is_cpu()) return 0;
  const auto& weights = pass == Pass::Training ? model.compute_weights() : model.weights();
  return attention_memory(model.config(), {batch.source.starts, batch.target.starts},
                          weights.element_size(), pass);
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
    const std::int64_t bytes = memory_of(model, part.whole, Pass::Forward);
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
      std::int64_t bytes = 0;  // of all shares, which are computed side by side
      for (const BatchView& share : part.shares) bytes += memory_of(model, share, Pass::Training);
      require_memory(bytes);
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
      const std::int64_t bytes = memory_of(model, pair.whole, Pass::Forward);
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

// ---- the result ---------------------------------------------------------------------------------

std::vector<UpdateResult> read_results(const std::vector<LaunchedUpdate>& updates) {
  if (updates.empty()) return {};
  std::vector<torch::Tensor> values;
  for (const LaunchedUpdate& update : updates) values.push_back(update.step.values);
  const auto here = torch::stack(values).cpu();  // [updates, StepResult::kCount]
  std::vector<UpdateResult> results;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const double* row = here.const_data_ptr<double>() + i * static_cast<std::size_t>(here.size(1));
    results.push_back({batch_loss(updates[i].loss, row), row[StepResult::kGradientNorm],
                       row[StepResult::kMade] != 0});
  }
  return results;
}

}  // namespace dragoman
