#include "training/flat_parameters.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "data/packed_batch.h"
#include "tests/free_port.h"
#include "tests/test_device.h"
#include "tests/training/failing_allocator.h"
#include "tests/training/ranks/ranks.h"
#include "tests/training/small_run.h"
#include "training/ranks/communicator.h"
#include "training/update.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

/// Parameters 0 and 1, 2, and 3 and 4.
const std::vector<FlatRange> kThreeSlices = {{3, 5, 40, 60}, {2, 3, 30, 40}, {0, 2, 0, 30}};

TEST(GradientSlices, SlicesAreHandedOverFromTheEndAsSoonAsTheyAreComplete) {
  std::vector<std::int64_t> taken;
  GradientSlices slices(kThreeSlices,
                        [&](const FlatRange& slice) { taken.push_back(slice.begin); });
  const auto compute = [&](const std::vector<std::size_t>& parameters) {
    for (const std::size_t parameter : parameters) slices.computed(parameter);
    return std::exchange(taken, {});
  };
  for (int update = 0; update < 2; ++update) {
    EXPECT_THAT(compute({4, 3, 2, 1, 0}), IsEmpty()) << "an earlier part of the update";
    slices.expect(2);
    EXPECT_THAT(compute({4, 4, 2, 2, 3}), IsEmpty());
    EXPECT_EQ(slices.left(), 60);
    EXPECT_THAT(compute({3}), ElementsAre(40, 30));
    EXPECT_EQ(slices.left(), 30);
    EXPECT_THAT(compute({1, 0, 1}), IsEmpty());
    EXPECT_THAT(compute({0}), ElementsAre(0));
    EXPECT_EQ(slices.left(), 0);
    slices.hand_over_rest();
    EXPECT_THAT(taken, IsEmpty());
    slices.restart();
  }
}

TEST(GradientSlices, APassThatIsMadeAgainHandsOverWhatIsLeft) {
  std::vector<std::int64_t> taken;
  GradientSlices slices(kThreeSlices,
                        [&](const FlatRange& slice) { taken.push_back(slice.begin); });
  slices.expect(1);
  for (const std::size_t parameter : {4, 3, 1}) slices.computed(parameter);
  slices.expect(0);
  for (const std::size_t parameter : {4, 3, 2, 1, 0}) slices.computed(parameter);
  EXPECT_THAT(taken, ElementsAre(40)) << "a part before the last one";
  slices.expect(1);
  for (const std::size_t parameter : {4, 3, 2, 1}) slices.computed(parameter);
  EXPECT_THAT(taken, ElementsAre(40, 30));
  slices.hand_over_rest();
  EXPECT_THAT(taken, ElementsAre(40, 30, 0));
}

TEST(FlatLayout, GradientsThatAreCopiedAreThoseThatAreAddedToZero) {
  const FlatLayout layout(small_config(0));
  const auto zeros = [&] { return layout.zeros(torch::kFloat32, test_device()); };
  std::vector<torch::Tensor> parameters;
  for (const auto& view : layout.views(zeros())) {
    parameters.push_back(torch::zeros_like(view.tensor));
    parameters.back().mutable_grad() = torch::ones_like(view.tensor) * std::ssize(parameters);
  }
  for (const bool complete : {true, false}) {
    if (!complete) parameters[3].mutable_grad().reset();
    const auto added = zeros(), copied = zeros();
    for (const auto& view : layout.views(copied)) view.tensor.fill_(7);
    constexpr std::int64_t kBegin = 100;
    const auto part = [&](const torch::Tensor& all) {
      return all.narrow(0, kBegin, layout.size() - 2 * kBegin);
    };
    layout.add_gradients(parameters, kBegin, part(added));
    layout.copy_gradients(parameters, kBegin, part(copied));
    EXPECT_TRUE(torch::equal(part(copied).cpu(), part(added).cpu())) << complete;
    EXPECT_GT(part(added).cpu().max().item<float>(), 7);
  }
}

TEST(GradientSlices, SlicesCoverTheBufferInWholeParameters) {
  const FlatLayout layout(small_config(0));
  for (const std::int64_t elements : {1, 2000, 1'000'000}) {
    std::int64_t end = layout.size();
    std::size_t parameters_end = layout.views(layout.zeros(torch::kFloat32, torch::kCPU)).size();
    for (const FlatRange& slice : layout.slices_from_the_end(elements)) {
      EXPECT_EQ(slice.end, end);
      EXPECT_EQ(slice.parameters_end, parameters_end);
      EXPECT_LT(slice.first_parameter, slice.parameters_end);
      EXPECT_TRUE(slice.end - slice.begin >= elements || slice.begin == 0);
      end = slice.begin;
      parameters_end = slice.first_parameter;
    }
    EXPECT_EQ(end, 0);
    EXPECT_EQ(parameters_end, 0U);
  }
}

// ---- of a model ---------------------------------------------------------------------------------

const std::vector<PackedBatch> kBatches = {batch_of({1, 2, 3}), batch_of({4, 5, 6, 7, 8, 9})};
const AccumulateConfig kWhole{.update = 3, .loss = {.label_smoothing = 0.1}, .part_tokens = 0};

TrainingModel small_model(Precision precision) {
  return TrainingModel(small_config(0.2), {}, precision, torch::kCPU, 1);
}

torch::Tensor gradient_at_once(Precision precision, const AccumulateConfig& config = kWhole) {
  auto model = small_model(precision);
  EXPECT_TRUE(try_to_accumulate(model, kBatches, config));
  return model.gradient().clone();
}

/// Puts the slices together again.
struct Taken {
  explicit Taken(TrainingModel& model, std::int64_t elements = 2000) : left(model.layout().size()) {
    gradient = torch::full({left}, 7.0F);
    model.hand_over_slices(elements, [this](const torch::Tensor& slice) {
      left -= slice.numel();
      EXPECT_EQ(slice.storage_offset(), left);
      gradient.narrow(0, left, slice.numel()).copy_(slice);
      ++slices;
    });
  }
  torch::Tensor gradient;
  std::int64_t left, slices = 0;
};

TEST(GradientSlices, TheGradientInSlicesIsTheWholeOneToTheLastBit) {
  for (const int threads : {1, 3}) {
    at::set_num_threads(threads);
    for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
      auto model = small_model(precision);
      Taken taken(model);
      ASSERT_TRUE(try_to_accumulate(model, kBatches, kWhole));
      EXPECT_GT(taken.slices, 10);
      EXPECT_EQ(taken.left, 0);
      EXPECT_TRUE(torch::equal(taken.gradient, gradient_at_once(precision)));
      EXPECT_TRUE(torch::equal(model.gradient(), taken.gradient));
    }
  }
  at::set_num_threads(1);
}

TEST(GradientSlices, TheFirstSlicesComeDuringTheBackwardPass) {
  auto model = small_model(Precision::Fp32);
  FailingAllocator allocator;  // its count of blocks is the time
  std::vector<std::int64_t> times;
  model.hand_over_slices(2000, [&](const torch::Tensor& slice) {
    times.push_back(allocator.blocks);
    const auto rest = model.gradient().narrow(0, 0, slice.storage_offset());
    EXPECT_TRUE(rest.eq(0).all().item<bool>()) << "nothing is added before its slice is complete";
  });
  model.accumulate(partition(kBatches[1], {.threads = 1}).front().shares, {}, 1, true);
  // The forward pass takes less than a half.
  EXPECT_LT(times.front(), allocator.blocks * 3 / 4);
  EXPECT_GT(times.back(), allocator.blocks * 9 / 10);
}

TEST(GradientSlices, ARankWithoutABatchHandsOverZeros) {
  auto model = small_model(Precision::Fp32);
  Taken taken(model);
  ASSERT_TRUE(try_to_accumulate(model, {}, kWhole));
  EXPECT_EQ(taken.left, 0);
  EXPECT_EQ(taken.gradient.abs().max().item<float>(), 0);
}

TEST(GradientSlices, MemoryMayRunOutAtAnyBlockAndEachSliceIsHandedOverOnce) {
  const auto expected = gradient_at_once(Precision::Fp32);
  FailingAllocator allocator;
  {
    auto model = small_model(Precision::Fp32);
    Taken taken(model);
    allocator.blocks = 0;
    ASSERT_TRUE(try_to_accumulate(model, kBatches, kWhole));
  }
  const std::int64_t blocks = allocator.blocks;
  bool between_slices = false;
  for (std::int64_t at = 1; at <= blocks; at += 1 + blocks / 60) {
    auto model = small_model(Precision::Fp32);
    Taken taken(model);
    allocator.blocks = 0;
    allocator.fails_at = at;
    ASSERT_FALSE(try_to_accumulate(model, kBatches, kWhole)) << at;
    allocator.fails_at = -1;
    between_slices |= taken.slices > 0 && taken.left > 0;
    AccumulateConfig parts = kWhole;
    parts.part_tokens = lowered_part_tokens(kBatches, 0);
    ASSERT_TRUE(try_to_accumulate(model, kBatches, parts));
    EXPECT_EQ(taken.left, 0);
    EXPECT_TRUE(torch::equal(model.gradient(), taken.gradient));
    EXPECT_LT((taken.gradient - expected).norm().item<float>(),
              1e-5F * expected.norm().item<float>());
  }
  EXPECT_TRUE(between_slices);
}

// ---- over ranks ---------------------------------------------------------------------------------

TEST(GradientSlices, RanksThatSumSlicesInTheBackwardPassHaveTheSameBitsAsAfterIt) {
  const int port = free_port();
  const auto errors = run_ranks(2, [&](int rank) {
    at::set_num_threads(1);
    Communicator ranks(info_on_loopback(rank, 2, port), 5);
    auto model = small_model(Precision::Fp32), reference = small_model(Precision::Fp32);
    model.hand_over_slices(2000, [&](const torch::Tensor& slice) { ranks.begin_sum(slice); });
    for (std::int64_t update = 1; update <= 5; ++update) {
      const std::vector<PackedBatch> own = {batch_of({10 * update + rank, 5, 6}),
                                            batch_of({20 * update + rank})};
      AccumulateConfig config = kWhole;
      config.update = update;
      try_to_accumulate(model, own, config);
      ranks.finish_sums();
      try_to_accumulate(reference, own, config);
      ranks.sum(reference.gradient());
      ASSERT_TRUE(torch::equal(model.gradient(), reference.gradient()));
      for (TrainingModel* each : {&model, &reference})
        each->step({.loss = {.target_tokens = 10}, .learning_rate = 1e-3});
      ASSERT_TRUE(torch::equal(model.weights(), reference.weights()));
    }
  });
  EXPECT_THAT(errors, Each(""));
}

}  // namespace
}  // namespace dragoman
