#include "training/cooldown.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TrainConfig wsd() {
  TrainConfig config;
  config.scheduler = LrScheduler::Wsd;
  config.cooldown = 0.2;
  config.patience = 0;
  return config;
}

TEST(Cooldown, ACooldownBeginsWhenTheStablePhaseIsOver) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  EXPECT_EQ(due_cooldown(config, {.update = 799}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 800}),
            (Cooldown{800, 1000, StopReason::MaxUpdates, 1000}));
}

TEST(Cooldown, ACooldownTakesItsFractionOfAllUpdatesWhereAnotherLimitEndsTheRun) {
  TrainConfig config = wsd();
  config.patience = 5;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 4}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 5}),
            (Cooldown{400, 500, StopReason::Patience, 5}));
  config.max_time = "100s";
  EXPECT_EQ(due_cooldown(config, {.update = 400, .seconds = 79}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 400, .seconds = 80}),
            (Cooldown{400, 500, StopReason::MaxTime, 100}));
  config.max_epochs = 10;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .epochs = 8}),
            (Cooldown{400, 500, StopReason::MaxEpochs, 10}));
}

TEST(Cooldown, ACooldownNeverGoesBeyondTheLastUpdate) {
  TrainConfig config = wsd();
  config.max_updates = 600;
  config.patience = 5;
  EXPECT_EQ(due_cooldown(config, {.update = 470, .without_gain = 5}),
            (Cooldown{470, 588, StopReason::Patience, 5}));
  config.max_updates = 500;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 5}),
            (Cooldown{400, 500, StopReason::MaxUpdates, 500}));
}

TEST(Cooldown, OnlyTheWsdScheduleHasACooldown) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  config.scheduler = LrScheduler::InverseSqrt;
  EXPECT_EQ(due_cooldown(config, {.update = 900}), std::nullopt);
}

TEST(Cooldown, NoCooldownIsDueBeforeTheFirstUpdate) {
  TrainConfig config = wsd();
  config.max_updates = 1;
  EXPECT_EQ(due_cooldown(config, {.update = 0}), std::nullopt);
}

TEST(Cooldown, ACooldownGoesOnUnlessItsLimitIsRaised) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  const Cooldown by_updates = due_cooldown(config, {.update = 800}).value();
  EXPECT_TRUE(goes_on(by_updates, config));
  config.max_updates = 1001;
  EXPECT_FALSE(goes_on(by_updates, config));
  config.max_updates = 0;
  EXPECT_FALSE(goes_on(by_updates, config));

  config.patience = 5;
  const Cooldown by_patience = due_cooldown(config, {.update = 400, .without_gain = 5}).value();
  EXPECT_TRUE(goes_on(by_patience, config)) << "a gain while the rate falls does not end it";
  config.patience = 4;
  EXPECT_TRUE(goes_on(by_patience, config));
  config.patience = 6;
  EXPECT_FALSE(goes_on(by_patience, config));

  config.patience = 0;
  config.max_time = "100s";
  const Cooldown by_time = due_cooldown(config, {.update = 400, .seconds = 80}).value();
  EXPECT_TRUE(goes_on(by_time, config));
  config.max_time = "105s";  // its last fraction has begun all the same
  EXPECT_FALSE(goes_on(by_time, config));

  config.max_time = "";
  config.max_epochs = 10;
  const Cooldown by_epochs = due_cooldown(config, {.update = 400, .epochs = 8}).value();
  EXPECT_TRUE(goes_on(by_epochs, config));
  config.max_epochs = 11;
  EXPECT_FALSE(goes_on(by_epochs, config));
}

TEST(Cooldown, PatienceBeginsAnewWithACancelledCooldown) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  ProgressRecord progress;
  progress.update = 1000;
  progress.cooldown = due_cooldown(config, {.update = 800}).value();
  const PatienceState counted = {.recent = {40, 41, 41},
                                 .to_beat = 41,
                                 .loss_to_beat = 1,
                                 .validations = 30,
                                 .without_gain = 4};
  progress.patience = counted;
  EXPECT_EQ(cancel_cooldown_if_longer(progress, config), std::nullopt);
  EXPECT_EQ(progress.patience, counted);

  config.max_updates = 2000;
  EXPECT_NE(cancel_cooldown_if_longer(progress, config), std::nullopt);
  EXPECT_EQ(progress.cooldown, Cooldown());
  EXPECT_EQ(progress.patience, PatienceState());
}

}  // namespace
}  // namespace dragoman
