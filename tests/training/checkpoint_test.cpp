#include "training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/test_device.h"
#include "tests/training/recording_observer.h"
#include "tests/training/small_batches.h"

namespace dragoman {
namespace {

TEST(Checkpoint, AResumedModelGoesOnBitIdentically) {
  const std::filesystem::path path =
      std::filesystem::path(testing::TempDir()) / "checkpoint_test.safetensors";
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    const auto update = [](TrainingModel& model, std::int64_t u) {
      const auto sums = model.accumulate(batch_of({u, u + 7}), {.label_smoothing = 0.1}, u);
      model.step({.target_tokens = sums.target_tokens, .learning_rate = 1e-3, .clip_norm = 1});
    };
    TrainingModel straight(small_config(0.2), {}, precision, test_device(), 1);
    straight.keep_moving_average(0.9);
    for (int u = 1; u <= 3; ++u) update(straight, u);
    ProgressRecord progress;
    progress.update = 3;
    progress.start.settings.values = {{"lr", "0.001"}};
    write_checkpoint(path, straight,
                     {.tokenizer_source = "pieces",
                      .tokenizer_target = {},
                      .provenance = {},
                      .decode_defaults = {}},
                     progress);
    // Its parameters are what the run would give.
    EXPECT_TRUE(torch::equal(load_flat_weights(path, straight.layout(), test_device()),
                             straight.result_weights()));
    for (int u = 4; u <= 6; ++u) update(straight, u);

    EXPECT_EQ(progress_from_json(ModelFileReader(path).progress()), progress);
    // The seed belongs to the configuration, so the resumed model has the same one.
    TrainingModel resumed(small_config(0.2), {}, precision, test_device(), 1);
    resumed.keep_moving_average(0.9);
    load_checkpoint(path, resumed);
    for (int u = 4; u <= 6; ++u) update(resumed, u);
    EXPECT_TRUE(torch::equal(straight.weights(), resumed.weights()));
    EXPECT_TRUE(torch::equal(straight.result_weights(), resumed.result_weights()));
  }
  std::filesystem::remove(path);
}

TEST(Checkpoint, AFailureOfTheFileSystemIsToldAndIsNoEndOfTheRun) {
  RecordingObserver observer;
  const auto fails = [] {
    std::filesystem::create_directory("/no/such/folder");  // not our own Error
  };
  EXPECT_FALSE(try_to_save("checkpoint", "the next one may succeed", observer, fails));
  ASSERT_EQ(observer.warnings.size(), 1U);
  EXPECT_THAT(observer.warnings.front(),
              testing::StartsWith("checkpoint not saved, the next one may succeed: "));
  EXPECT_TRUE(try_to_save("checkpoint", "", observer, [] {}));
}

}  // namespace
}  // namespace dragoman
