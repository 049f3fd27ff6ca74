#include "training/start/measured_speed.h"

#include <algorithm>
#include <exception>
#include <limits>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "data/prepare.h"
#include "training/training_model.h"

namespace dragoman {

namespace {

/// Libraries compile for a shape when they meet it: the first batch takes longer.
constexpr std::uint64_t kBatches = 3, kSeed = 1;

/// Seconds of the fastest batch behind the first.
double seconds_of_batch(TrainingModel& model, const SpeedSettings& settings) {
  double fastest = std::numeric_limits<double>::max();
  for (std::uint64_t i = 0; i < kBatches; ++i) {
    if (settings.stop.stop_requested()) throw PreparationStopped();
    const PackedBatch batch = random_batch(settings.text, kSeed, i);
    const Stopwatch watch;
    model.accumulate(batch, settings.loss, static_cast<std::int64_t>(i)).read();
    if (i > 0) fastest = std::min(fastest, watch.seconds());
  }
  return fastest;
}

double seconds_of_step(TrainingModel& model) {
  const Stopwatch watch;
  model.step({.target_tokens = 1, .learning_rate = 0}).made.item<bool>();  // waits for it
  return watch.seconds();
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

}  // namespace dragoman
