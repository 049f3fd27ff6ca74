#include "training/update.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/machine.h"
#include "base/random.h"
#include "tests/model/most_threads.h"
#include "tests/names.h"
#include "tests/training/failing_allocator.h"
#include "tests/training/small_run.h"

namespace dragoman {

namespace {

using testing::ElementsAre;

// ---- the batches --------------------------------------------------------------------------------

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

// ---- the gradient, in parts ---------------------------------------------------------------------

const std::vector<PackedBatch> kBatches = {batch_of({1, 2, 3}), batch_of({4, 5, 6, 7, 8, 9})};

/// Adam's first moment after one step: the gradient, scaled.
torch::Tensor gradient_of(TrainingModel& model, const DeviceLoss& sums) {
  model.step({.loss = sums, .learning_rate = 0});
  return model.adam().first_moment.clone();
}

TrainingModel small_model(Precision precision) {
  return TrainingModel(small_config(0.2), {}, precision, torch::kCPU, 1);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST(SplitUpdate, MemoryMayRunOutAtAnyBlockAndTheUpdateIsTheSame) {
  const AccumulateConfig whole{.update = 3, .loss = {.label_smoothing = 0.1}};
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    auto model = small_model(precision);
    FailingAllocator allocator;
    const auto sums = try_to_accumulate(model, kBatches, whole);
    const std::int64_t blocks = allocator.blocks;
    ASSERT_TRUE(sums);
    const auto expected = gradient_of(model, *sums);
    for (std::int64_t at = 1; at <= blocks; at += 1 + blocks / 25) {
      auto failing = small_model(precision);
      allocator.blocks = 0;
      allocator.fails_at = at;
      ASSERT_FALSE(try_to_accumulate(failing, kBatches, whole)) << at;
      allocator.fails_at = -1;
      AccumulateConfig parts = whole;
      parts.part_tokens = lowered_part_tokens(kBatches, 0);
      const auto again = try_to_accumulate(failing, kBatches, parts);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->target_tokens, sums->target_tokens);
      EXPECT_NEAR(again->read().smoothed, sums->read().smoothed, 1e-2);
      // bf16 rounds each part's gradient by itself.
      EXPECT_LT(difference(gradient_of(failing, *again), expected),
                precision == Precision::Fp32 ? 1e-5 : 1e-2);
    }
  }
}

TEST(SplitUpdate, TheBudgetIsLoweredUntilMemorySuffices) {
  auto model = small_model(Precision::Fp32);
  std::vector<std::int64_t> sentences(200);
  std::iota(sentences.begin(), sentences.end(), 1);
  const std::vector<PackedBatch> batches = {batch_of(sentences)};
  AccumulateConfig part{.update = 1, .loss = {.chunk_tokens = 64}};
  FailingAllocator allocator;
  ASSERT_TRUE(try_to_accumulate(model, batches, part));
  allocator.limit = allocator.largest / 3;
  int lowered = 0;
  while (!try_to_accumulate(model, batches, part)) {
    part.part_tokens = lowered_part_tokens(batches, part.part_tokens);
    ASSERT_LT(++lowered, 20);
  }
  EXPECT_GT(lowered, 0);
  allocator.limit = 1;
  EXPECT_FALSE(try_to_accumulate(model, batches, part));
  EXPECT_THROW(lowered_part_tokens(batches, 1), Error);
}

TEST(SplitUpdate, LossesWithoutGradientsAreTakenInPartsToo) {
  auto model = small_model(Precision::Fp32);
  std::vector<std::int64_t> sentences(200);
  std::iota(sentences.begin(), sentences.end(), 1);
  const std::vector<PackedBatch> batches = {batch_of(sentences), batch_of({1, 2, 3})};
  FailingAllocator allocator;
  const BatchLoss whole = evaluate_in_parts(model, batches);
  allocator.limit = allocator.largest / 3;
  EXPECT_THROW(model.evaluate(batches[0]), std::exception);
  const BatchLoss parts = evaluate_in_parts(model, batches);
  EXPECT_EQ(parts.target_tokens, whole.target_tokens);
  EXPECT_NEAR(parts.negative_log_likelihood / whole.negative_log_likelihood, 1, 1e-6);
  allocator.limit = 1;
  EXPECT_THROW(evaluate_in_parts(model, batches), Error);
}

/// One pair of `length` pieces on each side.
std::vector<PackedBatch> long_pair(double length) {
  PackedBatch batch;
  for (PackedSide* side : {&batch.source, &batch.target}) {
    side->tokens.assign(static_cast<std::size_t>(length), 9);
    side->starts = {0, static_cast<std::int32_t>(length)};
  }
  batch.sentences = {1};
  return {batch};
}

TEST(SplitUpdate, ThreadsShareTheBatchesOfALossAndNoOperation) {
  auto model = small_model(Precision::Fp32);
  std::vector<std::int64_t> sentences(400);
  std::iota(sentences.begin(), sentences.end(), 1);
  const std::vector<PackedBatch> batches = {batch_of({3, 4}), batch_of(sentences)};
  at::set_num_threads(1);
  const BatchLoss whole = evaluate_in_parts(model, batches);
  for (const int threads : {2, 3}) {
    at::set_num_threads(threads);
    const MostThreads of_operation;
    const BatchLoss shared = evaluate_in_parts(model, batches);
    EXPECT_EQ(of_operation.count(), 1);
    EXPECT_EQ(at::get_num_threads(), threads);
    EXPECT_EQ(shared.target_tokens, whole.target_tokens);
    EXPECT_EQ(shared.source_tokens, whole.source_tokens);
    EXPECT_NEAR(shared.negative_log_likelihood, whole.negative_log_likelihood,
                1e-6 * whole.negative_log_likelihood);
    EXPECT_EQ(evaluate_in_parts(model, batches).negative_log_likelihood,
              shared.negative_log_likelihood);
    at::set_num_threads(1);
  }
}

// The kernel would kill a process whose pages turn out not to be there.
TEST(SplitUpdate, ASentenceThatIsTooLongForMemoryIsFoundBeforeAnyIsTaken) {
  auto model = small_model(Precision::Fp32);
  const auto available = static_cast<double>(available_memory());
  FailingAllocator allocator;
  allocator.limit = 1 << 30;
  EXPECT_FALSE(try_to_accumulate(model, long_pair(std::sqrt(available / 50)), {.update = 1}));
  const auto longer = long_pair(std::sqrt(available / 10));
  EXPECT_THROW(evaluate_in_parts(model, longer), Error);
  EXPECT_EQ(allocator.blocks, 0);
}

TEST(SplitUpdate, APairThatCannotBeEvaluatedIsNamedBeforeTheFirstUpdate) {
  auto model = small_model(Precision::Fp32);
  const auto available = static_cast<double>(available_memory());
  const auto require = [&](double part) {
    require_memory_to_evaluate(model, long_pair(std::sqrt(available * part)), "validation text");
  };
  require(0.01);
  EXPECT_THAT([&] { require(0.1); },
              testing::ThrowsMessage<Error>(Names("validation text ... memory")));
}

TEST(SplitUpdate, SentencesThatAreComputedWithALongOneArePaddedToIt) {
  auto model = small_model(Precision::Fp32);
  at::set_num_threads(1);
  // Alone, the long pair would take about half of the memory.
  auto batches = long_pair(std::sqrt(static_cast<double>(available_memory()) / 200));
  PackedBatch& batch = batches.front();
  for (std::int64_t sentence = 2; sentence <= 10; ++sentence) {
    for (PackedSide* side : {&batch.source, &batch.target}) {
      side->tokens.insert(side->tokens.end(), {9, 9, 2});
      side->starts.push_back(side->starts.back() + 3);
    }
    batch.sentences.push_back(sentence);
  }
  FailingAllocator allocator;
  allocator.limit = 1 << 30;
  EXPECT_FALSE(try_to_accumulate(model, batches, {.update = 1}));
  EXPECT_EQ(allocator.blocks, 0);
}

TEST(SplitUpdate, OtherErrorsPassThrough) {
  auto model = small_model(Precision::Fp32);
  FailingAllocator allocator;
  allocator.fails_at = 5;
  allocator.failure = [] { throw std::runtime_error("something else"); };
  EXPECT_THROW(try_to_accumulate(model, kBatches, {.update = 1}), std::runtime_error);
}

// ---- memory that runs out -----------------------------------------------------------------------

using OutOfMemory = SmallRun;

TEST_F(OutOfMemory, TheRunContinuesInPartsAndSaysSoOnce) {
  RecordingObserver quiet;
  train(run_in("whole"), quiet);
  EXPECT_THAT(quiet.warnings, ElementsAre());

  RecordingObserver observer;
  FailingAllocator allocator;
  observer.after_update = [&](std::int64_t update) {
    if (update == 3) allocator.fails_at = allocator.blocks + 60;  // in the fourth
  };
  train(run_in("split"), observer);
  EXPECT_THAT(observer.warnings, ElementsAre(Names("update 4 ... memory")));
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
