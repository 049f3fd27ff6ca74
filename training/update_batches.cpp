#include "training/update_batches.h"

#include "base/random.h"

namespace dragoman {

void UpdateBatches::open(const ProgressRecord& progress) {
  PlanConfig plan = run_.config.epoch_plan(run_.data.weights());
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

}  // namespace dragoman
