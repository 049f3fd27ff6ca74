#include "training/outlook.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

constexpr RunPace kPace{
    .seconds_per_update = 0.5, .updates_per_epoch = 100, .seconds_per_validation = 10};

TrainConfig without_limits() {
  TrainConfig config;
  config.patience = 0;
  config.valid_every = 100;
  return config;
}

TEST(Outlook, WithoutALimitNoEndIsKnown) {
  EXPECT_FALSE(outlook(without_limits(), {}, kPace).end);
  EXPECT_FALSE(outlook(without_limits(), {}, kPace).end_without_gain);
}

TEST(Outlook, TheNearestLimitDecidesAndValidationsTakeTheirTime) {
  TrainConfig config = without_limits();
  config.max_updates = 1000;
  config.max_epochs = 20;
  ProgressRecord progress;
  progress.update = 250;
  const Outlook expected = outlook(config, progress, kPace);
  EXPECT_DOUBLE_EQ(expected.end->updates_left, 750);
  EXPECT_DOUBLE_EQ(expected.end->seconds_left, 750 * (0.5 + 10.0 / 100));
  EXPECT_DOUBLE_EQ(expected.seconds_to_validation.value(), 50 * 0.5);
  config.max_epochs = 5;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end->updates_left, 250);
  config.max_time = "60s";
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end->seconds_left, 60);
}

TEST(Outlook, TheLastUpdateIsValidatedToo) {
  TrainConfig config = without_limits();
  config.max_updates = 120;
  ProgressRecord progress;
  progress.update = 110;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).seconds_to_validation.value(), 10 * 0.5);
}

TEST(Outlook, AValidationThatIsDueComesNext) {
  TrainConfig config = without_limits();
  config.patience = 2;
  config.scheduler = LrScheduler::InverseSqrt;
  ProgressRecord progress;
  progress.update = 200;
  progress.validated_update = 100;
  EXPECT_EQ(outlook(config, progress, kPace).seconds_to_validation, 0);
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end_without_gain->updates_left, 100);
  progress.validated_update = 200;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).seconds_to_validation.value(), 100 * 0.5);
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end_without_gain->updates_left, 200);
}

TEST(Outlook, WithoutAValidationTextNothingIsValidatedAndPatienceEndsNothing) {
  TrainConfig config = without_limits();
  config.patience = 4;
  RunPace pace = kPace;
  pace.validates = false;
  EXPECT_FALSE(outlook(config, {}, pace).seconds_to_validation);
  EXPECT_FALSE(outlook(config, {}, pace).end_without_gain);
}

TEST(Outlook, PatienceGivesTheEarliestEndWithTheCooldownOfWsd) {
  TrainConfig config = without_limits();
  config.patience = 4;
  ProgressRecord progress;
  progress.update = 350;
  progress.patience.without_gain = 2;
  config.scheduler = LrScheduler::InverseSqrt;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end_without_gain->updates_left, 150)
      << "validations at 400 and 500";
  config.scheduler = LrScheduler::Wsd;
  config.cooldown = 0.5;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end_without_gain->updates_left, 650)
      << "the cooldown takes 500 more";
  config.max_updates = 600;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end->updates_left, 250);
  EXPECT_FALSE(outlook(config, progress, kPace).end_without_gain);
}

TEST(Outlook, ACooldownThatHasBegunEndsTheRun) {
  TrainConfig config = without_limits();
  config.patience = 4;
  config.scheduler = LrScheduler::Wsd;
  ProgressRecord progress;
  progress.update = 350;
  progress.cooldown.begin = 300;
  progress.cooldown.end = 400;
  EXPECT_DOUBLE_EQ(outlook(config, progress, kPace).end->updates_left, 50);
  EXPECT_FALSE(outlook(config, progress, kPace).end_without_gain);
}

}  // namespace
}  // namespace dragoman
