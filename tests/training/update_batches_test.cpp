#include "training/update_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/training/small_run.h"

namespace dragoman {
namespace {

using Sentences = std::vector<std::int64_t>;

class UpdateBatchesTest : public SmallRun {
 protected:
  /// The sentences of each of the next batches.
  static std::vector<Sentences> next(UpdateBatches& batches) {
    std::vector<Sentences> sentences;
    for (const PackedBatch& batch : batches.next()) sentences.push_back(batch.sentences);
    return sentences;
  }
};

TEST_F(UpdateBatchesTest, AnUpdateHasItsBatchesFromWhereTheProgressStands) {
  const TrainingRun run = run_in("batches");
  UpdateBatches batches(run, {});
  batches.open({});
  EXPECT_EQ(batches.position(), DataPosition{});
  const auto first = next(batches);
  EXPECT_EQ(std::ssize(first), run.config.update_freq);
  ProgressRecord progress;
  progress.epoch = batches.position().epoch;
  progress.batch = batches.position().batch;
  const auto second = next(batches), third = next(batches);
  EXPECT_NE(first, second);
  batches.open(progress);
  EXPECT_EQ(next(batches), second);
  EXPECT_EQ(next(batches), third);
}

TEST_F(UpdateBatchesTest, ARollbackBeginsAnotherOrderOfTheSameText) {
  const TrainingRun run = run_in("rollback");
  const auto first_epoch = [&run](std::int64_t rollbacks) {
    UpdateBatches batches(run, {});
    ProgressRecord progress;
    progress.rollbacks = rollbacks;
    batches.open(progress);
    Sentences all;
    while (batches.position().epoch == 0)
      for (const Sentences& batch : next(batches))
        all.insert(all.end(), batch.begin(), batch.end());
    return all;
  };
  const Sentences before = first_epoch(0), after = first_epoch(1);
  EXPECT_EQ(first_epoch(0), before);
  EXPECT_NE(before, after);
  EXPECT_EQ(std::set(before.begin(), before.end()), std::set(after.begin(), after.end()));
}

TEST_F(UpdateBatchesTest, RanksTogetherHaveTheBatchesOfOneProcess) {
  TrainingRun run = run_in("ranks");
  UpdateBatches first(run, {.rank = 0, .size = 2}), second(run, {.rank = 1, .size = 2});
  first.open({});
  second.open({});
  std::vector<Sentences> of_ranks;
  const auto of_first = next(first), of_second = next(second);
  for (std::size_t i = 0; i < of_first.size(); ++i)
    of_ranks.insert(of_ranks.end(), {of_first[i], of_second[i]});
  const double updates = first.updates_per_epoch();
  run.config.update_freq *= 2;
  UpdateBatches alone(run, {});
  alone.open({});
  EXPECT_EQ(of_ranks, next(alone));
  EXPECT_EQ(alone.updates_per_epoch(), updates);
  EXPECT_EQ(alone.position(), first.position());
}

TEST_F(UpdateBatchesTest, EpochsAreThePassesOverTheText) {
  const TrainingRun run = run_in("epochs");
  UpdateBatches batches(run, {});
  batches.open({});
  EXPECT_EQ(batches.epochs(), 0);
  const double updates = batches.updates_per_epoch();
  for (int i = 1; i <= 3; ++i) {
    batches.next();
    EXPECT_DOUBLE_EQ(batches.epochs(), i / updates);
  }
  EXPECT_GE(batches.waited_seconds(), 0);
}

}  // namespace
}  // namespace dragoman
