#include "training/start/trial.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/training/small_run.h"

namespace dragoman {
namespace {

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
