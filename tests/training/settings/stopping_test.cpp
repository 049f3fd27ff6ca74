#include "training/settings/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/names.h"
#include "training/settings/progress_record.h"
#include "training/settings/train_config.h"

namespace dragoman {

namespace {

// ---- limits -------------------------------------------------------------------------------------

TrainConfig without_limits() {
  TrainConfig config;
  config.patience = 0;
  config.valid_every = 100;
  return config;
}

ProgressRecord late_progress() {
  ProgressRecord progress;
  progress.update = 1000;
  progress.epoch = 10;
  progress.patience.without_gain = 5;
  return progress;
}

TEST(StopReason, WithoutALimitNothingEndsTheRun) {
  EXPECT_EQ(reached_limit(without_limits(), late_progress(), 1e9), std::nullopt);
}

TEST(StopReason, EachLimitEndsTheRunWhenItIsReached) {
  TrainConfig config = without_limits();
  config.max_updates = 1001;
  config.max_epochs = 11;
  config.max_time = "101s";
  config.patience = 6;
  EXPECT_EQ(reached_limit(config, late_progress(), 100), std::nullopt);
  config.patience = 5;
  EXPECT_EQ(reached_limit(config, late_progress(), 100), StopReason::Patience);
  config.max_time = "100s";
  EXPECT_EQ(reached_limit(config, late_progress(), 100), StopReason::MaxTime);
  config.max_epochs = 10;
  EXPECT_EQ(reached_limit(config, late_progress(), 100), StopReason::MaxEpochs);
  config.max_updates = 1000;
  EXPECT_EQ(reached_limit(config, late_progress(), 100), StopReason::MaxUpdates);
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
  ProgressRecord progress = late_progress();
  EXPECT_EQ(reached_limit(config, progress, 0), std::nullopt);
  progress.cooldown.end = 1001;
  progress.cooldown.limit = StopReason::Patience;
  EXPECT_EQ(reached_limit(config, progress, 0), std::nullopt);
  progress.update = 1001;
  EXPECT_EQ(reached_limit(config, progress, 0), StopReason::Patience);
}

// ---- patience -----------------------------------------------------------------------------------

PatienceState after(const std::vector<double>& scores, double standard_error) {
  PatienceState state;
  for (const double score : scores) note_validation(state, {score, standard_error});
  return state;
}

TEST(Patience, PatienceCountsTheValidationsSinceTheSmoothedScoreLastRose) {
  EXPECT_EQ(after({10, 20, 30}, 0.7).without_gain, 0);
  EXPECT_EQ(after({30, 30, 30, 30}, 0.7).without_gain, 3);
}

TEST(Patience, ASlowRiseThatAddsUpIsAGain) {
  // 0.02 a validation; the sixth is more than 0.07 above the first.
  EXPECT_EQ(after({30, 30.02, 30.04, 30.06}, 0.7).without_gain, 3);
  EXPECT_EQ(after({30, 30.02, 30.04, 30.06, 30.08, 30.10}, 0.7).without_gain, 0);
}

TEST(Patience, OneLuckyScoreNeitherHidesARiseNorMakesOne) {
  // The best single score comes second; the mean of three still rises.
  EXPECT_EQ(after({30, 32, 30.5, 31, 31.5, 31.8}, 0.7).without_gain, 0);
  // A small lucky score among equal ones is not a gain.
  EXPECT_EQ(after({30, 30, 30, 30.15, 30, 30, 30}, 0.7).without_gain, 6);
}

TEST(Patience, TheLossDecidesIfTheScoreSaysNothing) {
  PatienceState state;
  for (int i = 0; i < 10; ++i) note_validation(state, {.loss = 7 - 0.1 * i});
  EXPECT_EQ(state.without_gain, 0);
  note_validation(state, {.loss = 6.5});
  EXPECT_EQ(state.without_gain, 1);
}

TEST(Patience, AScoreThatDoesNotCountIsNotAGain) {
  PatienceState state;
  note_validation(state, {.score = 10});
  note_validation(state, {.score = 20, .counts = false});
  EXPECT_EQ(state.without_gain, 1);
  EXPECT_EQ(state.recent, std::vector<double>{10}) << "it is not in the mean either";
  note_validation(state, {.score = 11});
  EXPECT_EQ(state.without_gain, 0);
  EXPECT_EQ(state.to_beat, 10.5);
}

TEST(Patience, WithoutAKnownErrorAnyRiseIsAGain) {
  EXPECT_EQ(after({-2, -1.99, -1.98}, 0).without_gain, 0);
  EXPECT_EQ(after({-2, -2, -2}, 0).without_gain, 2);
}

// ---- stages -------------------------------------------------------------------------------------

ProgressRecord in_stage(std::int64_t number, std::int64_t first_epoch) {
  ProgressRecord progress;
  progress.update = 70;
  progress.epoch = 3;
  progress.batch = 4;
  progress.stage = {.number = number, .first_epoch = first_epoch};
  return progress;
}

TEST(Stages, AStageEndsAfterItsPasses) {
  const std::vector<std::int64_t> passes = {2, 1, 0};
  ProgressRecord progress = in_stage(0, 2);
  progress.stage.patience.without_gain = 100;
  EXPECT_FALSE(begin_next_stage(progress, passes, 5));
  progress = in_stage(0, 1);
  const auto begun = begin_next_stage(progress, passes, 5);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->reason, StageEnd::Passes);
  EXPECT_EQ(begun->notice, "stage 1 of 3 ends after 2 passes; stage 2 begins at update 71");
  EXPECT_EQ(progress, in_stage(1, 3));
}

TEST(Stages, AStageWithoutANumberOfPassesEndsWithPatienceAndTheNextHasAnEpochOfItsOwn) {
  const std::vector<std::int64_t> passes = {2, 0, 0};
  ProgressRecord progress = in_stage(1, 2);
  progress.stage.patience.without_gain = 4;
  EXPECT_FALSE(begin_next_stage(progress, passes, 5));
  progress.stage.patience.without_gain = 5;
  EXPECT_FALSE(begin_next_stage(progress, passes, 0)) << "patience never ends";
  const auto begun = begin_next_stage(progress, passes, 5);
  ASSERT_TRUE(begun);
  EXPECT_EQ(begun->reason, StageEnd::Patience);
  EXPECT_THAT(begun->notice, Names("stage 2 of 3 ... 5 validations ... stage 3 ... update 71"));
  EXPECT_EQ(progress.epoch, 4);
  EXPECT_EQ(progress.batch, 0);
  EXPECT_EQ(progress.stage, (StageState{.number = 2, .first_epoch = 4}));
}

TEST(Stages, AfterTheLastBatchOfAnEpochNoEpochIsLeftOut) {
  ProgressRecord progress = in_stage(0, 0);
  progress.batch = 0;
  progress.stage.patience.without_gain = 5;
  EXPECT_TRUE(begin_next_stage(progress, std::vector<std::int64_t>{0, 0}, 5));
  EXPECT_EQ(progress.epoch, 3);
}

TEST(Stages, TheLastStageDoesNotEnd) {
  for (const auto& passes : std::vector<std::vector<std::int64_t>>{{}, {0}, {2, 0}}) {
    ProgressRecord progress = in_stage(std::max<std::int64_t>(0, std::ssize(passes) - 1), 0);
    progress.stage.patience.without_gain = progress.patience.without_gain = 100;
    EXPECT_FALSE(begin_next_stage(progress, passes, 5));
    EXPECT_EQ(&patience_of_stage(progress, passes), &progress.patience);
  }
}

TEST(Stages, AValidationBeforeTheLastStageDoesNotEndTheRun) {
  ProgressRecord progress = in_stage(0, 0);
  for (int i = 0; i < 100; ++i)
    note_validation(patience_of_stage(progress, std::vector<std::int64_t>{9, 0}), {.score = 1});
  EXPECT_EQ(progress.stage.patience.without_gain, 99);
  TrainConfig config = without_limits();
  config.patience = 5;
  EXPECT_EQ(reached_limit(config, progress, 0), std::nullopt);
}

// ---- cooldown -----------------------------------------------------------------------------------

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

TEST(Cooldown, ACooldownTakesItsFractionOfAllUpdatesIfAnotherLimitEndsTheRun) {
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

TEST(Cooldown, ACooldownContinuesUnlessItsLimitIsRaised) {
  TrainConfig config = wsd();
  config.max_updates = 1000;
  const Cooldown by_updates = due_cooldown(config, {.update = 800}).value();
  EXPECT_TRUE(continues(by_updates, config));
  config.max_updates = 1001;
  EXPECT_FALSE(continues(by_updates, config));
  config.max_updates = 0;
  EXPECT_FALSE(continues(by_updates, config));

  config.patience = 5;
  const Cooldown by_patience = due_cooldown(config, {.update = 400, .without_gain = 5}).value();
  EXPECT_TRUE(continues(by_patience, config)) << "a gain while the rate falls does not end it";
  config.patience = 4;
  EXPECT_TRUE(continues(by_patience, config));
  config.patience = 6;
  EXPECT_FALSE(continues(by_patience, config));

  config.patience = 0;
  config.max_time = "100s";
  const Cooldown by_time = due_cooldown(config, {.update = 400, .seconds = 80}).value();
  EXPECT_TRUE(continues(by_time, config));
  config.max_time = "105s";  // its last fraction has begun all the same
  EXPECT_FALSE(continues(by_time, config));

  config.max_time = "";
  config.max_epochs = 10;
  const Cooldown by_epochs = due_cooldown(config, {.update = 400, .epochs = 8}).value();
  EXPECT_TRUE(continues(by_epochs, config));
  config.max_epochs = 11;
  EXPECT_FALSE(continues(by_epochs, config));
}

TEST(Cooldown, PatienceBeginsAgainWithACancelledCooldown) {
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

// ---- outlook ------------------------------------------------------------------------------------

constexpr RunPace kPace{
    .seconds_per_update = 0.5, .updates_per_epoch = 100, .seconds_per_validation = 10};

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
