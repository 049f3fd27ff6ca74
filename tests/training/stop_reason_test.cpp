#include "training/stop_reason.h"

#include <gtest/gtest.h>

#include "training/progress_record.h"
#include "training/train_config.h"

namespace dragoman {
namespace {

TrainConfig without_limits() {
  TrainConfig config;
  config.patience = 0;
  return config;
}

ProgressRecord far_on() {
  ProgressRecord progress;
  progress.update = 1000;
  progress.epoch = 10;
  progress.patience.without_gain = 5;
  return progress;
}

TEST(StopReason, WithoutALimitNothingEndsTheRun) {
  EXPECT_EQ(reached_limit(without_limits(), far_on(), 1e9), std::nullopt);
}

TEST(StopReason, EachLimitEndsTheRunWhereItIsReached) {
  TrainConfig config = without_limits();
  config.max_updates = 1001;
  config.max_epochs = 11;
  config.max_time = "101s";
  config.patience = 6;
  EXPECT_EQ(reached_limit(config, far_on(), 100), std::nullopt);
  config.patience = 5;
  EXPECT_EQ(reached_limit(config, far_on(), 100), StopReason::Patience);
  config.max_time = "100s";
  EXPECT_EQ(reached_limit(config, far_on(), 100), StopReason::MaxTime);
  config.max_epochs = 10;
  EXPECT_EQ(reached_limit(config, far_on(), 100), StopReason::MaxEpochs);
  config.max_updates = 1000;
  EXPECT_EQ(reached_limit(config, far_on(), 100), StopReason::MaxUpdates);
}

TEST(StopReason, TimeAloneDoesNotEndARunBeforeItsFirstUpdate) {
  TrainConfig config = without_limits();
  config.max_time = "1s";
  EXPECT_EQ(reached_limit(config, {}, 100), std::nullopt);
}

TEST(StopReason, WithWsdPatienceEndsTheRunByACooldown) {
  TrainConfig config = without_limits();
  config.scheduler = LrScheduler::Wsd;
  config.patience = 5;
  ProgressRecord progress = far_on();
  EXPECT_EQ(reached_limit(config, progress, 0), std::nullopt);
  progress.cooldown.end = 1001;
  progress.cooldown.limit = StopReason::Patience;
  EXPECT_EQ(reached_limit(config, progress, 0), std::nullopt);
  progress.update = 1001;
  EXPECT_EQ(reached_limit(config, progress, 0), StopReason::Patience);
}

}  // namespace
}  // namespace dragoman
