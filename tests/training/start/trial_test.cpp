#include "training/start/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data/prepare.h"
#include "model/device.h"
#include "tests/test_device.h"
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

TEST(MeasuredSpeed, TheSpeedIsZeroOnlyIfMemoryRunsOut) {
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
  EXPECT_GT(trial.longest_batch().target_tokens_per_second, 0);
  EXPECT_GT(trial.peak_growth(), 0);
}

TEST_F(TrialTest, TheFirstEpochHasEveryPairOnce) {
  const TrainingRun run = run_in("epoch");
  const EpochPlan epoch = first_epoch(settings_of(run));
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < epoch.batches(); ++i)
    pairs += static_cast<std::int64_t>(epoch.batch(i).size());
  EXPECT_EQ(pairs, run.data.train.pairs());
  EXPECT_EQ(updates_of(epoch, settings_of(run)), static_cast<double>(epoch.batches()) / 2);
}

TEST_F(TrialTest, MoreTokensTakeMoreMemoryOfAGpu) {
  if (test_device().is_cpu()) GTEST_SKIP() << "no GPU here, nor the stand-in for one";
  TrainingRun run = run_in("memory");
  run.device = test_device();
  Trial trial(settings_of(run));
  const auto few = trial.device_memory(100), more = trial.device_memory(400);
  ASSERT_TRUE(few && more);
  EXPECT_GT(*few, 0);
  EXPECT_GT(*more, *few);
  EXPECT_LT(*more, device_memory(test_device()));
  EXPECT_LT(*trial.device_memory(100), *more) << "each peak is one update's";
}

// ---- --max-tokens auto --------------------------------------------------------------------------

constexpr std::int64_t kMany = 1'000'000;

TEST(LargestBudget, TheBudgetComesNearToTheMemoryOnALine) {
  const auto chosen = largest_budget([](std::int64_t n) { return 1000 + 7 * n; }, 500'000, kMany);
  EXPECT_LE(1000 + 7 * chosen.max_tokens, 500'000);
  EXPECT_GT(1000 + 7 * chosen.max_tokens, 470'000);
  EXPECT_LE(chosen.trials.size(), 6);
  EXPECT_EQ(chosen.trials[0].max_tokens, 1024);
  EXPECT_EQ(chosen.trials[1].max_tokens, 2048);
}

TEST(LargestBudget, TheBudgetIsOneThatWasTriedAndFits) {
  // The memory of the loss stops growing, that of attention begins to, and some does not fit.
  for (const std::int64_t memory : {20'000, 60'000, 90'000, 400'000, 3'000'000}) {
    const MemoryOfBudget memory_of = [&](std::int64_t n) -> std::optional<std::int64_t> {
      const std::int64_t needed = 5 * n + 20 * std::min<std::int64_t>(n, 3000) + n * n / 100'000;
      if (needed > memory + memory / 10) return std::nullopt;
      return needed;
    };
    const auto chosen = largest_budget(memory_of, memory, kMany);
    EXPECT_LE(chosen.trials.size(), 12) << memory;
    const auto tried =
        std::ranges::find(chosen.trials, chosen.max_tokens, &BudgetTrial::max_tokens);
    ASSERT_NE(tried, chosen.trials.end()) << memory;
    if (chosen.max_tokens == 1024) continue;
    ASSERT_TRUE(tried->memory) << memory;
    EXPECT_LE(*tried->memory, memory);
    const auto larger = memory_of(chosen.max_tokens * 21 / 20 + 256);
    EXPECT_TRUE(!larger || *larger > memory) << memory << ": " << chosen.max_tokens;
  }
}

TEST(LargestBudget, TheEpochBoundsTheBudget) {
  const auto memory_of = [](std::int64_t n) { return n; };
  EXPECT_EQ(largest_budget(memory_of, kMany, 400).max_tokens, 400);
  EXPECT_EQ(largest_budget(memory_of, kMany, 1500).max_tokens, 1500);
  EXPECT_EQ(largest_budget(memory_of, kMany, 10'000).max_tokens, 9984);
  EXPECT_EQ(largest_budget(memory_of, kMany, 0).max_tokens, 1);
}

TEST(LargestBudget, TheSmallestIsChosenEvenIfItDoesNotFit) {
  const auto chosen = largest_budget([](std::int64_t) { return std::nullopt; }, 1000, kMany);
  EXPECT_EQ(chosen.max_tokens, 1024);
  EXPECT_EQ(chosen.trials.size(), 1);
}

}  // namespace

}  // namespace dragoman
