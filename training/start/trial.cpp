#include "training/start/trial.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "data/batch_packer.h"
#include "data/preparation_stopped.h"
#include "training/split_update.h"

namespace dragoman {

namespace {

/// Batches that are timed. One batch before them is not, as libraries compile for a shape when they
/// meet it.
constexpr std::int64_t kTimedBatches = 4;

double seconds_of(const auto& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

PlanConfig plan_of(const TrialSettings& settings, std::int64_t max_tokens) {
  PlanConfig plan = settings.config.epoch_plan(settings.data.weights());
  plan.max_tokens = max_tokens;
  return plan;
}

}  // namespace

EpochPlan first_epoch(const TrialSettings& settings, std::int64_t max_tokens) {
  const PreparedData& data = settings.data;
  const BatchPacker packer(data.train, end_ids(data.tokenizers), {.max_tokens = max_tokens},
                           {data.encoder, nullptr});
  return plan_epoch(data.train, plan_of(settings, packer.planned_tokens()), 0);
}

double updates_of(const EpochPlan& epoch, const TrialSettings& settings) {
  return std::max(1.0, static_cast<double>(epoch.batches()) /
                           static_cast<double>(settings.config.update_freq * settings.ranks));
}

Trial::Trial(const TrialSettings& settings)
    : settings_(settings),
      model_(settings.model, {}, settings.precision, settings.device,
             static_cast<std::uint64_t>(settings.config.seed)) {
  if (settings.config.ema > 0) model_.keep_moving_average(settings.config.ema);
  step_seconds();            // memory that the first step allocates is kept
  give_back_freed_memory();  // memory that earlier work has freed would hide the growth
  reset_peak_resident_memory();
  before_ = resident_memory();
}

BatchCost Trial::usual_batches(std::int64_t max_tokens) {
  const EpochPlan epoch = first_epoch(settings_, max_tokens);
  const EndIds ends = end_ids(settings_.data.tokenizers);
  std::vector<PackedBatch> batches;
  for (std::int64_t i = 0; i < std::min(epoch.batches(), kTimedBatches + 1); ++i)
    batches.push_back(pack_batch(settings_.data.train, epoch.batch(i), ends));
  return cost_of(batches);
}

BatchCost Trial::longest_batch(std::int64_t max_tokens) {
  const Corpus& corpus = settings_.data.train;
  const EndIds ends = end_ids(settings_.data.tokenizers);
  const EpochPlan ordered = plan_in_length_order(corpus, plan_of(settings_, max_tokens));
  const auto last = ordered.batch(ordered.batches() - 1),
             before = ordered.batch(std::max<std::int64_t>(0, ordered.batches() - 2));
  // The last batch may be nearly empty, so it is the one that is not timed.
  return cost_of({pack_batch(corpus, last, ends), pack_batch(corpus, before, ends)});
}

BatchCost Trial::cost_of(const std::vector<PackedBatch>& batches) {
  double seconds = 0, tokens = 0, count = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const PackedBatch& batch = batches[i];
    if (settings_.stop.stop_requested()) throw PreparationStopped();
    AccumulateConfig config{
        .update = ++update_, .loss = settings_.config.loss(), .precision = settings_.precision};
    const double spent = seconds_of([&] {  // as the trainer does
      std::optional<DeviceLoss> loss;
      while (!(loss = try_to_accumulate(model_, {&batch, 1}, config)))
        config.part_tokens = lowered_part_tokens({&batch, 1}, config.part_tokens);
      loss->read();  // when the device is done
    });
    if (i == 0 && batches.size() > 1) continue;
    seconds += spent;
    tokens += static_cast<double>(batch.target.size());
    ++count;
  }
  return {.target_tokens_per_second = tokens / seconds, .seconds = seconds / count};
}

double Trial::step_seconds() {
  return seconds_of([this] {
    model_.step({.target_tokens = 1, .learning_rate = 0}).made.item<bool>();  // waits for it
  });
}

std::int64_t Trial::peak_growth() const {
  return std::max<std::int64_t>(0, peak_resident_memory() - before_);
}

}  // namespace dragoman
