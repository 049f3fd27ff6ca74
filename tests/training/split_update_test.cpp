#include "training/split_update.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/memory.h"
#include "tests/model/most_threads.h"
#include "tests/training/failing_allocator.h"
#include "tests/training/small_batches.h"

namespace dragoman {
namespace {

const std::vector<PackedBatch> kBatches = {batch_of({1, 2, 3}), batch_of({4, 5, 6, 7, 8, 9})};

/// Adam's first moment after one step: the gradient, scaled.
torch::Tensor gradient_of(TrainingModel& model, const DeviceLoss& sums) {
  model.step({.target_tokens = sums.target_tokens, .learning_rate = 0});
  return model.adam().first_moment.clone();
}

TrainingModel small_model(Precision precision) {
  return TrainingModel(small_config(0.2), {}, precision, torch::kCPU, 1);
}

double difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).norm().item<double>() / b.norm().item<double>();
}

TEST(SplitUpdate, MemoryMayRunOutAtAnyBlockAndTheUpdateIsTheSame) {
  const AccumulateConfig whole{.update = 3, .loss = {.label_smoothing = 0.1}, .part_tokens = 0};
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
  AccumulateConfig part{.update = 1, .loss = {.chunk_tokens = 64}, .part_tokens = 0};
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
  EXPECT_FALSE(try_to_accumulate(model, long_pair(std::sqrt(available / 50)),
                                 {.update = 1, .loss = {}, .part_tokens = 0}));
  const auto longer = long_pair(std::sqrt(available / 10));
  EXPECT_THROW(evaluate_in_parts(model, longer), Error);
  EXPECT_EQ(allocator.blocks, 0);
}

TEST(SplitUpdate, APairThatCannotBeEvaluatedIsNamedBeforeTheFirstUpdate) {
  auto model = small_model(Precision::Fp32);
  const auto available = static_cast<double>(available_memory());
  require_memory_to_evaluate(model, long_pair(std::sqrt(available / 100)), "validation text");
  try {
    require_memory_to_evaluate(model, long_pair(std::sqrt(available / 10)), "validation text");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("validation text: not enough memory for a pair"));
  }
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
  EXPECT_FALSE(try_to_accumulate(model, batches, {.update = 1, .loss = {}, .part_tokens = 0}));
  EXPECT_EQ(allocator.blocks, 0);
}

TEST(SplitUpdate, OtherErrorsPassThrough) {
  auto model = small_model(Precision::Fp32);
  FailingAllocator allocator;
  allocator.fails_at = 5;
  allocator.failure = [] { throw std::runtime_error("something else"); };
  EXPECT_THROW(try_to_accumulate(model, kBatches, {.update = 1, .loss = {}, .part_tokens = 0}),
               std::runtime_error);
}

}  // namespace
}  // namespace dragoman
