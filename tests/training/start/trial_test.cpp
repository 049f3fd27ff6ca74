#include "training/start/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/prepare.h"
#include "tests/training/failing_allocator.h"
#include "tests/training/small_run.h"

namespace dragoman {

namespace {

// ---- speed without a corpus ---------------------------------------------------------------------

ModelConfig model_of_width(std::int64_t width) {
  ModelConfig model = ModelConfig::from_preset(Preset::Tiny);
  model.d_model = width;
  model.d_ff = 2 * width;
  model.encoder_layers = model.decoder_layers = 1;
  model.source_vocabulary = model.target_vocabulary = 100;
  return model;
}

double speed_of(const ModelConfig& model, std::stop_token stop = {}) {
  return measured_speed(
      {.model = model,
       .precision = Precision::Fp32,
       .device = torch::kCPU,
       .text = {.vocabulary = 100, .length = 10, .spread = 0, .batch_tokens = 400},
       .loss = {.label_smoothing = 0.1},
       .update_freq = 1,
       .stop = std::move(stop)});
}

/// The best of several measurements: other work on the machine slows some of them.
double best_speed_of(const ModelConfig& model) {
  double best = 0;
  for (int i = 0; i < 5; ++i) best = std::max(best, speed_of(model));
  return best;
}

TEST(MeasuredSpeed, ALargerModelIsSlower) {
  EXPECT_GT(best_speed_of(model_of_width(16)), 2 * best_speed_of(model_of_width(512)));
}

TEST(MeasuredSpeed, TheSpeedIsZeroOnlyIfMemoryDoesNotSuffice) {
  FailingAllocator allocator;
  allocator.fails_at = 5;
  EXPECT_EQ(speed_of(model_of_width(16)), 0);
  allocator.blocks = 0;
  allocator.failure = [] { throw std::runtime_error("something else"); };
  EXPECT_THROW(speed_of(model_of_width(16)), std::runtime_error);
}

TEST(MeasuredSpeed, AStopRequestEndsTheMeasurement) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(speed_of(model_of_width(16), stop.get_token()), PreparationStopped);
}

// ---- trials on the corpus -----------------------------------------------------------------------

class TrialTest : public SmallRun {
 protected:
  static TrialSettings settings_of(const TrainingRun& run) {
    return {.config = run.config,
            .model = run.model,
            .precision = run.precision,
            .device = run.device,
            .data = run.data};
  }
};

TEST_F(TrialTest, MemoryThatWasFreedBeforeDoesNotHideTheGrowth) {
  {
    std::vector<char> freed(std::size_t{500} << 20);
    for (std::size_t i = 0; i < freed.size(); i += 4096) freed[i] = 1;  // now it is in memory
  }
  const TrainingRun run = run_in("trial");
  Trial trial(settings_of(run));
  EXPECT_GT(trial.longest_batch(300).target_tokens_per_second, 0);
  EXPECT_GT(trial.peak_growth(), 0);
}

TEST_F(TrialTest, TheFirstEpochHasEveryPairOnce) {
  const TrainingRun run = run_in("epoch");
  const EpochPlan epoch = first_epoch(settings_of(run), 300);
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < epoch.batches(); ++i)
    pairs += static_cast<std::int64_t>(epoch.batch(i).size());
  EXPECT_EQ(pairs, run.data.train.pairs());
  EXPECT_EQ(updates_of(epoch, settings_of(run)), static_cast<double>(epoch.batches()) / 2);
}

}  // namespace

}  // namespace dragoman
