#include "training/start/trial.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/memory.h"
#include "data/prepare.h"
#include "training/split_update.h"

namespace dragoman {

namespace {

/// Batches that are timed. One batch before them is not, as libraries compile for a shape when they
/// meet it.
constexpr std::int64_t kTimedBatches = 4;

double seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Trial::Trial(const TrialSettings& settings)
    : settings_(settings),
      model_(settings.model, {}, settings.precision, settings.device,
             static_cast<std::uint64_t>(settings.config.seed)) {
  if (settings.config.ema > 0) model_.keep_moving_average(settings.config.ema);
  step_seconds();  // memory that the first step allocates is kept
  malloc_trim(0);  // memory freed by data preparation would hide the growth
  reset_peak_resident_memory();
  before_ = resident_memory();
}

PlanConfig Trial::plan(std::int64_t max_tokens) const {
  return {max_tokens, settings_.config.max_sentences,
          static_cast<std::uint64_t>(settings_.config.seed)};
}

BatchCost Trial::usual_batches(std::int64_t max_tokens) {
  const EpochPlan epoch = plan_epoch(settings_.corpus, plan(max_tokens), 0);
  std::vector<PackedBatch> batches;
  for (std::int64_t i = 0; i < std::min(epoch.batches(), kTimedBatches + 1); ++i)
    batches.push_back(pack_batch(settings_.corpus, epoch.batch(i), settings_.ends));
  return measure(batches);
}

BatchCost Trial::longest_batch(std::int64_t max_tokens) {
  const EpochPlan ordered = plan_in_length_order(settings_.corpus, plan(max_tokens));
  const auto last = ordered.batch(ordered.batches() - 1),
             before = ordered.batch(std::max<std::int64_t>(0, ordered.batches() - 2));
  // The last batch may be nearly empty.
  return measure({pack_batch(settings_.corpus, before, settings_.ends),
                  pack_batch(settings_.corpus, last, settings_.ends)});
}

BatchCost Trial::measure(const std::vector<PackedBatch>& batches) {
  double seconds = 0, tokens = 0, count = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const PackedBatch& batch = batches[i];
    if (settings_.stop.stop_requested()) throw PreparationStopped();
    AccumulateConfig part{
        .update = ++update_, .loss = settings_.config.loss(), .precision = settings_.precision};
    const double spent = seconds_of([&] {  // as the trainer does
      while (!try_to_accumulate(model_, {&batch, 1}, part))
        part.token_budget = lowered_budget({&batch, 1}, part.token_budget);
    });
    if (i == 0 && batches.size() > 1) continue;
    seconds += spent;
    tokens += static_cast<double>(batch.target.size());
    ++count;
  }
  return {.target_tokens_per_second = tokens / seconds, .seconds = seconds / count};
}

double Trial::step_seconds() {
  return seconds_of([this] { model_.step({.target_tokens = 1, .learning_rate = 0}); });
}

std::int64_t Trial::peak_growth() const {
  return std::max<std::int64_t>(0, peak_resident_memory() - before_);
}

}  // namespace dragoman
