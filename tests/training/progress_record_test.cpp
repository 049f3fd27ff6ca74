#include "training/progress_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(ProgressRecord, ARecordRoundTripsThroughJson) {
  ProgressRecord progress;
  progress.update = 7;
  progress.seconds = 0.1;
  progress.best.value = 1.0 / 3;
  progress.start.settings.values = {{"lr", "0.005"}, {"train-src", "a \"b\".en, \xFF.en"}};
  progress.start.data = {{"\xE9t\xE9.en", "0123"}, {"\u00e9t\u00e9.en", "4567"}};
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
  EXPECT_THROW(progress_from_json("{\"epoch\": 7}"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": \"7\"}"), Error);
  EXPECT_THROW(progress_from_json("nonsense"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": 7, \"cooldown_limit\": " +
                                  std::string(200'000, '[') + std::string(200'000, ']') + "}"),
               Error);
}

TEST(ProgressRecord, ARecordOfAnEarlierVersionIsReadWithDefaults) {
  const ProgressRecord progress = progress_from_json("{\"update\": 7}");
  EXPECT_EQ(progress.update, 7);
  EXPECT_EQ(progress.rate_factor, 1);
  EXPECT_FALSE(progress.best.is_there());
  EXPECT_LT(progress.keep_value, 0) << "not measured";
  EXPECT_TRUE(progress_from_json("{\"update\": 7, \"best_update\": 5}").best.is_there());
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
  EXPECT_EQ(read("3"), StopReason::Patience) << "of an earlier version";
  for (const char* nonsense : {"5", "-1", "1.5", "\"--patient\"", "[]"})
    EXPECT_THROW(read(nonsense), Error) << nonsense;
}

}  // namespace
}  // namespace dragoman
