#include "training/settings/progress_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

/// Every member has a value of its own, unlike its default.
ProgressRecord record_of_other_values() {
  return {
      .update = 7,
      .epoch = 8,
      .batch = 9,
      .stage = {.number = 1,
                .first_epoch = 2,
                .patience = {.recent = {0.3},
                             .to_beat = 0.4,
                             .loss_to_beat = 0.5,
                             .validations = 6,
                             .without_gain = 65}},
      .source_tokens = 10,
      .target_tokens = 11,
      .left_out = 12,
      .history = {.updates = 13,
                  .loss = 1.4,
                  .gradient_norm = 1.5,
                  .lowest_loss = 1.6,
                  .left_out_in_a_row = 17},
      .rollbacks = 18,
      .rate_factor = 0.19,
      .returned_to = 20,
      .sound = {21, 22},
      .seconds = 0.1,
      .part_tokens = 23,
      .validated_update = 24,
      .best = {.update = 25, .value = 1.0 / 3, .loss = 2.6, .seconds = 2.7, .keep_value = 2.71},
      .keep_value = 2.8,
      .initial_value = 2.85,
      .patience = {.recent = {2.9, 3.0},
                   .to_beat = 3.1,
                   .loss_to_beat = 3.2,
                   .validations = 33,
                   .without_gain = 34},
      .cooldown = {.begin = 35, .end = 36, .limit = StopReason::MaxTime, .limit_value = 3.7},
      .averaged_update = 38,
      .log_bytes = 39,
      .start = {.machine = {.ranks = 40, .precision = "bf16", .threads = "41", .processor = "here"},
                .file_hashes = {{"\xE9t\xE9.en", "0123"}, {"\u00e9t\u00e9.en", "4567"}},
                .values = {{"lr", "0.005"}, {"train-src", "a \"b\".en, \xFF.en"}},
                .asked = {{"lr", "auto"}},
                .reasons = {{"lr", "42 pairs"}}}};
}

TEST(ProgressRecord, EveryMemberSurvivesJson) {
  const ProgressRecord progress = record_of_other_values();
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
}

TEST(ProgressRecord, TextThatIsNotARecordIsRefused) {
  EXPECT_THROW(progress_from_json("{\"epoch\": 7}"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": \"7\"}"), Error);
  EXPECT_THROW(progress_from_json("nonsense"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": 7, \"cooldown_limit\": " +
                                  std::string(200'000, '[') + std::string(200'000, ']') + "}"),
               Error);
}

TEST(ProgressRecord, AMissingMemberHasItsDefault) {
  const ProgressRecord progress = progress_from_json("{\"update\": 7}");
  EXPECT_EQ(progress.update, 7);
  EXPECT_EQ(progress.rate_factor, 1);
  EXPECT_FALSE(progress.best.exists());
  for (const double value : {progress.keep_value, progress.initial_value, progress.best.keep_value})
    EXPECT_LT(value, 0) << "not measured";
  EXPECT_TRUE(progress_from_json("{\"update\": 7, \"best_update\": 5}").best.exists());
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
}

TEST(ProgressRecord, ARecordHasTheNameOfTheLimitThatBeganACooldown) {
  ProgressRecord progress;
  for (const StopReason limit :
       {StopReason::MaxUpdates, StopReason::MaxEpochs, StopReason::MaxTime, StopReason::Patience}) {
    progress.cooldown.limit = limit;
    EXPECT_EQ(progress_from_json(to_json(progress)), progress);
  }
  EXPECT_THAT(to_json(progress), testing::HasSubstr("\"cooldown_limit\":\"--patience\""));
  const auto read = [](const std::string& limit) {
    return progress_from_json("{\"update\": 7, \"cooldown_limit\": " + limit + "}").cooldown.limit;
  };
  for (const char* nonsense : {"3", "-1", "1.5", "\"--patient\"", "[]"})
    EXPECT_THROW(read(nonsense), Error) << nonsense;
}

}  // namespace
}  // namespace dragoman
