// A run whose memory runs out goes on in parts, and so does the same run when it is resumed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/training/failing_allocator.h"
#include "tests/training/small_run.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using OutOfMemory = SmallRun;

TEST_F(OutOfMemory, TheRunGoesOnInPartsAndSaysSoOnce) {
  RecordingObserver quiet;
  train(run_in("whole"), quiet);
  EXPECT_THAT(quiet.warnings, ElementsAre());

  RecordingObserver observer;
  FailingAllocator allocator;
  observer.after_update = [&](std::int64_t update) {
    if (update == 3) allocator.fails_at = allocator.blocks + 60;  // in the fourth
  };
  train(run_in("split"), observer);
  EXPECT_THAT(observer.warnings, ElementsAre(HasSubstr("update 4: memory has run out")));
  EXPECT_GT(progress_.part_tokens, 0);
  EXPECT_LE(progress_.part_tokens, 150);
  const auto whole = weights_at(run_in("whole"), 6), split = weights_at(run_in("split"), 6);
  EXPECT_LT((whole - split).norm().item<double>(), 1e-4 * whole.norm().item<double>());
}

TEST_F(OutOfMemory, TheLowerBudgetIsSavedBeforeItActs) {
  const TrainingRun straight = run_in("straight"), resumed = run_in("resumed");
  RecordingObserver observer;
  FailingAllocator allocator;
  observer.after_update = [&](std::int64_t update) {
    if (update == 3) allocator.fails_at = allocator.blocks + 60;
    if (update != 4) return;
    std::filesystem::create_directories(resumed.folder.checkpoints());
    std::filesystem::copy(straight.folder.latest(), resumed.folder.latest());
  };
  train(straight, observer);

  const auto found = find_checkpoint_to_resume(resumed.folder, [](const std::string&) { FAIL(); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->progress.update, 3);
  EXPECT_GT(found->progress.part_tokens, 0);
  RecordingObserver quiet;
  train(resumed, quiet);
  EXPECT_TRUE(torch::equal(weights_at(straight, 6), weights_at(resumed, 6)));
}

}  // namespace
}  // namespace dragoman
