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

TEST(Cooldown, BeginsWhenTheStablePhaseIsOver) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  EXPECT_EQ(due_cooldown(config, {.update = 799}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 800}), (Cooldown{800, 1000, StopReason::MaxUpdates}));
}

TEST(Cooldown, TakesItsFractionOfAllUpdatesWhereAnotherLimitEndsTheRun) {
  TrainConfig config = wsd();
  config.patience = 5;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 4}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 5}),
            (Cooldown{400, 500, StopReason::Patience}));
  config.max_time = "100s";
  EXPECT_EQ(due_cooldown(config, {.update = 400, .seconds = 79}), std::nullopt);
  EXPECT_EQ(due_cooldown(config, {.update = 400, .seconds = 80}),
            (Cooldown{400, 500, StopReason::MaxTime}));
  config.max_epochs = 10;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .epochs = 8}),
            (Cooldown{400, 500, StopReason::MaxEpochs}));
}

TEST(Cooldown, NeverGoesBeyondTheLastUpdate) {
  TrainConfig config = wsd();
  config.max_updates = 600;
  config.patience = 5;
  EXPECT_EQ(due_cooldown(config, {.update = 470, .without_gain = 5}),
            (Cooldown{470, 588, StopReason::Patience}));
  config.max_updates = 500;
  EXPECT_EQ(due_cooldown(config, {.update = 400, .without_gain = 5}),
            (Cooldown{400, 500, StopReason::MaxUpdates}));
}

TEST(Cooldown, BelongsToTheWsdScheduleAlone) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  config.scheduler = LrScheduler::InverseSqrt;
  EXPECT_EQ(due_cooldown(config, {.update = 900}), std::nullopt);
}

TEST(Cooldown, IsNotDueBeforeTheFirstUpdate) {
  TrainConfig config = wsd();
  config.max_updates = 1;
  EXPECT_EQ(due_cooldown(config, {.update = 0}), std::nullopt);
}

TEST(Cooldown, GoesOnUnlessItsLimitIsRaised) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  const Cooldown by_updates{800, 1000, StopReason::MaxUpdates};
  EXPECT_TRUE(goes_on(by_updates, config, {.update = 900}, 0));
  config.max_updates = 2000;
  EXPECT_FALSE(goes_on(by_updates, config, {.update = 1000}, 0));
  config.max_updates = 0;
  EXPECT_FALSE(goes_on(by_updates, config, {.update = 1000}, 0));

  config.patience = 5;
  const Cooldown by_patience{400, 500, StopReason::Patience};
  EXPECT_TRUE(goes_on(by_patience, config, {.update = 450, .without_gain = 0}, 5));
  config.patience = 8;
  EXPECT_FALSE(goes_on(by_patience, config, {.update = 450, .without_gain = 5}, 5));

  config.max_time = "100s";
  const Cooldown by_time{400, 500, StopReason::MaxTime};
  EXPECT_TRUE(goes_on(by_time, config, {.update = 450, .seconds = 85}, 5));
  config.max_time = "200s";
  EXPECT_FALSE(goes_on(by_time, config, {.update = 450, .seconds = 85}, 5));
}

}  // namespace
}  // namespace dragoman
