#include "training/start/trial.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/machine.h"
#include "data/batch_stream.h"
#include "data/parallel_text.h"
#include "model/device.h"
#include "training/settings/divergence.h"
#include "training/update.h"

namespace dragoman {

namespace {

double seconds_of(const auto& work) {
  const Stopwatch watch;
  work();
  return watch.seconds();
}

double seconds_of_step(TrainingModel& model) {
  return seconds_of([&model] {
    model.step({.loss = {.target_tokens = 1}, .learning_rate = 0})
        .made()
        .item<double>();  // waits for it
  });
}

// ---- speed without a corpus ---------------------------------------------------------------------

/// The first batch takes longer: libraries compile for a shape when they first meet it.
constexpr std::uint64_t kBatches = 3, kSeed = 1;

/// Seconds of a batch: the mean of those after the first.
double seconds_of_batch(TrainingModel& model, const SpeedSettings& settings) {
  double sum = 0;
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    if (settings.stop.stop_requested()) throw PreparationStopped();
    const PackedBatch batch = random_batch(settings.text, kSeed, i);
    const double seconds = seconds_of([&] {
      const BatchPart whole = partition(batch, {.threads = model.threads()}).front();
      model.accumulate(whole.shares, settings.loss, static_cast<std::int64_t>(i)).read();
    });
    if (i > 0) sum += seconds;
  }
  return sum / static_cast<double>(kBatches - 1);
}

}  // namespace

double measured_speed(const SpeedSettings& settings) {
  try {
    TrainingModel model(settings.model, {}, settings.precision, settings.device, kSeed);
    const auto batches = static_cast<double>(settings.update_freq);
    const double seconds = batches * seconds_of_batch(model, settings) + seconds_of_step(model);
    const auto tokens = static_cast<double>(random_batch(settings.text, kSeed, 0).target.size());
    return batches * tokens / seconds;
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  give_back_freed_memory();
  return 0;
}

// ---- trials on the corpus -----------------------------------------------------------------------

namespace {

/// Batches that are timed. The one before them is not: libraries compile for a shape when they
/// first meet it.
constexpr std::int64_t kTimedBatches = 4;

/// Each of them is timed so often, and the median counts. The fastest time is one that a run seldom
/// has, so a plan by it is too short; the mean would take a moment's other work on the machine for
/// lasting work.
constexpr std::size_t kRounds = 3;

}  // namespace

EpochPlan first_epoch(const TrialSettings& settings) {
  const PreparedData& data = settings.data;
  PlanConfig plan = settings.config.epoch_plan(settings.data.stages());
  const BatchPacker packer(data.train, end_ids(data.tokenizers), {.max_tokens = plan.max_tokens},
                           {data.encoder, nullptr});
  plan.max_tokens = packer.planned_tokens();
  return plan_epoch(data.train, plan, 0);
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
  seconds_of_step(model_);   // memory that the first step allocates is kept
  give_back_freed_memory();  // memory that earlier work has freed would hide the growth
  reset_peak_resident_memory();
  before_ = resident_memory();
}

BatchCost Trial::usual_batches() {
  const EpochPlan epoch = first_epoch(settings_);
  const EndIds ends = end_ids(settings_.data.tokenizers);
  std::vector<PackedBatch> batches;
  for (std::int64_t i = 0; i < std::min(epoch.batches(), kTimedBatches + 1); ++i)
    batches.push_back(pack_batch(settings_.data.train, epoch.batch(i), ends));
  return cost_of(batches);
}

BatchCost Trial::longest_batch() {
  const Corpus& corpus = settings_.data.train;
  const EndIds ends = end_ids(settings_.data.tokenizers);
  const EpochPlan ordered =
      plan_in_length_order(corpus, settings_.config.epoch_plan(settings_.data.stages()));
  const auto last = ordered.batch(ordered.batches() - 1),
             before = ordered.batch(std::max<std::int64_t>(0, ordered.batches() - 2));
  // The last batch may be nearly empty, so it is the one that is not timed.
  return cost_of({pack_batch(corpus, last, ends), pack_batch(corpus, before, ends)});
}

BatchCost Trial::cost_of(const std::vector<PackedBatch>& batches) {
  const auto seconds_with = [this](const PackedBatch& batch) {
    if (settings_.stop.stop_requested()) throw PreparationStopped();
    AccumulateConfig config{.update = ++update_, .loss = settings_.config.loss()};
    return seconds_of([&] {  // as the trainer does
      std::optional<DeviceLoss> loss;
      while (!(loss = try_to_accumulate(model_, {&batch, 1}, config)))
        config.part_tokens = lowered_part_tokens({&batch, 1}, config.part_tokens);
      loss->read();  // when the device is done
    });
  };
  std::span<const PackedBatch> timed(batches);
  if (batches.size() > 1) {
    seconds_with(batches.front());
    timed = timed.subspan(1);
  }
  std::vector<std::array<double, kRounds>> times(timed.size());
  for (std::size_t round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < timed.size(); ++i) times[i][round] = seconds_with(timed[i]);
  double seconds = 0, tokens = 0;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    std::ranges::sort(times[i]);
    seconds += times[i][kRounds / 2];
    tokens += static_cast<double>(timed[i].target.size());
  }
  return {.target_tokens_per_second = tokens / seconds,
          .seconds = seconds / static_cast<double>(timed.size())};
}

double Trial::seconds_per_update(const BatchCost& batches) {
  return static_cast<double>(settings_.config.update_freq) * batches.seconds +
         seconds_of_step(model_);
}

std::int64_t Trial::peak_growth() const {
  return std::max<std::int64_t>(0, peak_resident_memory() - before_);
}

// ---- the token budget ---------------------------------------------------------------------------

namespace {

/// The batch of an epoch with this budget that takes the most memory: of the longest sentences, or
/// one of mixed lengths, which are all filled up to the same shape.
PackedBatch largest_batch(const TrialSettings& settings, std::int64_t max_tokens) {
  const PreparedData& data = settings.data;
  PlanConfig plan = settings.config.epoch_plan(settings.data.stages());
  plan.max_tokens = max_tokens;
  const bool mixed = plan.lengths == BatchLengths::Mixed;
  const BatchPacker packer(data.train, end_ids(data.tokenizers),
                           {.max_tokens = max_tokens,
                            .capacity = mixed ? batch_capacity(data.train, plan) : BatchCapacity{}},
                           {data.encoder, data.alignments});
  plan.max_tokens = packer.planned_tokens();
  const EpochPlan epoch =
      mixed ? plan_epoch(data.train, plan, 0) : plan_in_length_order(data.train, plan);
  // In the order of length the last batch may be nearly empty.
  return packer.pack(epoch.batch(mixed ? 0 : std::max<std::int64_t>(0, epoch.batches() - 2)), {});
}

}  // namespace

std::optional<std::int64_t> Trial::device_memory(std::int64_t max_tokens) {
  if (settings_.stop.stop_requested()) throw PreparationStopped();
  const PackedBatch batch = largest_batch(settings_, max_tokens);
  reset_peak_device_memory(settings_.device);
  try {
    const BatchPart whole = partition(batch, {}).front();
    model_.accumulate(whole.shares, settings_.config.loss(), ++update_).read();
    seconds_of_step(model_);
    return peak_device_memory(settings_.device);
  } catch (const std::exception& problem) {
    if (!is_out_of_memory(problem)) throw;
  }
  model_.forget_gradient();
  return std::nullopt;
}

namespace {

/// The budget at which the line through two trials reaches `memory`. If the second had no room at
/// all, the one halfway between them.
double budget_on_line(const BudgetTrial& fitting, const BudgetTrial& next, std::int64_t memory) {
  const auto begin = static_cast<double>(fitting.max_tokens),
             step = static_cast<double>(next.max_tokens) - begin;
  if (!next.memory) return begin + step / 2;
  const auto growth = static_cast<double>(*next.memory - *fitting.memory);
  if (growth <= 0) return std::numeric_limits<double>::max();
  return begin + step * static_cast<double>(memory - *fitting.memory) / growth;
}

}  // namespace

ChosenBudget largest_budget(const MemoryOfBudget& memory_of, std::int64_t memory,
                            std::int64_t largest) {
  constexpr std::int64_t kSmallest = 1024, kUnit = 256, kMostGrowth = 4;
  constexpr double kGain = 1.05;  // less is not worth another trial
  ChosenBudget chosen;
  const auto fits = [&](std::int64_t max_tokens) {
    chosen.trials.push_back({max_tokens, memory_of(max_tokens)});
    const auto& needed = chosen.trials.back().memory;
    return needed && *needed <= memory;
  };
  chosen.max_tokens = std::clamp<std::int64_t>(largest, 1, kSmallest);
  if (!fits(chosen.max_tokens)) return chosen;
  BudgetTrial best = chosen.trials.back();
  std::int64_t next = std::min(2 * kSmallest, largest);
  while (static_cast<double>(next) >= kGain * static_cast<double>(best.max_tokens)) {
    const bool next_fits = fits(next);
    const BudgetTrial& tried = chosen.trials.back();
    const double on_line = budget_on_line(best, tried, memory);
    if (next_fits)
      best = tried;
    else
      largest = next - 1;
    const auto most = static_cast<double>(std::min(kMostGrowth * best.max_tokens, largest));
    next = static_cast<std::int64_t>(std::min(on_line, most)) / kUnit * kUnit;
  }
  chosen.max_tokens = best.max_tokens;
  return chosen;
}

ChosenBudget largest_budget(const TrialSettings& settings) {
  constexpr std::int64_t kFewestBatches = 50;
  const double share = settings.config.device_graph ? 0.45 : 0.9;
  const Corpus& corpus = settings.data.train;
  std::int64_t source = 0, target = 0;
  for (std::int64_t pair = 0; pair < corpus.pairs(); ++pair) {
    source += corpus.lengths(pair).source + 1;
    target += corpus.lengths(pair).target + 1;
  }
  const double memory = share * static_cast<double>(device_memory(settings.device));
  Trial trial(settings);
  return largest_budget([&](std::int64_t max_tokens) { return trial.device_memory(max_tokens); },
                        static_cast<std::int64_t>(memory),
                        std::max(source, target) / kFewestBatches);
}

// ---- train --plan -------------------------------------------------------------------------------

namespace {

constexpr std::int64_t kFp32 = 4, kBf16 = 2;

MemoryPlan memory_of(const TrialSettings& settings, const Trial& trial) {
  const TrainConfig& config = settings.config;
  const std::int64_t size = trial.layout().size();
  const bool bf16 = settings.precision == Precision::Bf16;
  const std::int64_t shares = trial.shares(), type = bf16 ? kBf16 : kFp32;
  const std::int64_t share_gradients = shares * size * type;  // made while measuring
  const std::int64_t rows = std::max<std::int64_t>(config.max_tokens / shares, 1);
  MemoryPlan memory{.weights = size * kFp32 * (config.ema > 0 ? 2 : 1),
                    .moments = 2 * size * kFp32,
                    .gradients = size * kFp32 + share_gradients,
                    .compute_copy = bf16 ? size * kBf16 : 0,
                    .logits = shares * type * settings.model.target_vocabulary *
                              chunk_size(config.loss(), rows, settings.model.target_vocabulary),
                    .activations = 0};
  memory.activations =
      std::max<std::int64_t>(0, trial.peak_growth() - share_gradients - memory.logits);
  return memory;
}

/// The checkpoints that are kept, or that a rollback may need if these are more; the latest, and
/// the one being written.
std::int64_t most_checkpoints(const TrainConfig& config) {
  const std::int64_t for_rollback = kUpdatesBeforeDivergence / config.save_interval() + 2;
  return std::max(config.keep_last, for_rollback) + 2;
}

}  // namespace

RunPlan plan_run(const TrialSettings& settings) {
  const TrainConfig& config = settings.config;
  RunPlan plan;
  plan.resident = resident_memory();
  Trial trial(settings);
  plan.parameters = trial.layout().parameters();
  plan.longest = trial.longest_batch();
  plan.usual = trial.usual_batches();
  plan.memory = memory_of(settings, trial);

  plan.updates_per_epoch = updates_of(first_epoch(settings), settings);
  plan.seconds_per_update = trial.seconds_per_update(plan.usual);
  plan.outlook = outlook(config, {},
                         {.seconds_per_update = plan.seconds_per_update,
                          .updates_per_epoch = plan.updates_per_epoch,
                          .seconds_per_validation = 0,
                          .validates = settings.validates()});

  const std::int64_t model = plan.parameters * kFp32;
  plan.checkpoint_bytes = model * (config.ema > 0 ? 4 : 3);
  plan.disk_bytes = most_checkpoints(config) * plan.checkpoint_bytes + 2 * model;
  return plan;
}

}  // namespace dragoman
