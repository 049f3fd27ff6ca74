#include "training/start/run_plan.h"

#include <algorithm>

#include "training/divergence.h"

namespace dragoman {

namespace {

constexpr std::int64_t kFp32 = 4, kBf16 = 2;

MemoryPlan memory_of(const TrialSettings& settings, const Trial& trial) {
  const TrainConfig& config = settings.config;
  const std::int64_t size = trial.layout().size(), passes = config.r_drop > 0 ? 2 : 1;
  const bool bf16 = settings.precision == Precision::Bf16;
  const std::int64_t shares = trial.shares(), type = bf16 ? kBf16 : kFp32;
  const std::int64_t share_gradients = shares * size * type;  // made while measuring
  const std::int64_t rows = std::max<std::int64_t>(config.max_tokens / shares, 1);
  MemoryPlan memory{.weights = size * kFp32 * (config.ema > 0 ? 2 : 1),
                    .moments = 2 * size * kFp32,
                    .gradients = size * kFp32 + share_gradients,
                    .compute_copy = bf16 ? size * kBf16 : 0,
                    .logits = shares * passes * type * settings.model.target_vocabulary *
                              chunk_size(config.loss(), rows, settings.model.target_vocabulary),
                    .activations = 0};
  memory.activations =
      std::max<std::int64_t>(0, trial.peak_growth() - share_gradients - memory.logits);
  return memory;
}

/// Those that are kept, or as many as a rollback may need; the latest, and the one being written.
std::int64_t most_checkpoints(const TrainConfig& config) {
  const std::int64_t for_rollback = kUpdatesBeforeDivergence / config.save_interval() + 2;
  return std::max(config.keep_last, for_rollback) + 2;
}

}  // namespace

RunPlan plan_run(const TrialSettings& settings) {
  const TrainConfig& config = settings.config;
  Trial trial(settings);
  RunPlan plan;
  plan.parameters = trial.layout().parameters();
  plan.longest = trial.longest_batch(config.max_tokens);
  plan.usual = trial.usual_batches(config.max_tokens);
  plan.memory = memory_of(settings, trial);

  plan.updates_per_epoch = updates_of(first_epoch(settings, config.max_tokens), settings);
  plan.seconds_per_update =
      static_cast<double>(config.update_freq) * plan.usual.seconds + trial.step_seconds();
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
