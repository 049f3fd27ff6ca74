#include "training/progress_record.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(ProgressRecord, RoundTripsThroughJson) {
  ProgressRecord progress;
  progress.update = 7;
  progress.seconds = 0.1;
  progress.best.value = 1.0 / 3;
  progress.settings.values = {{"lr", "0.005"}, {"train-src", "a \"b\".en, \xFF.en"}};
  progress.data = {{"\xE9t\xE9.en", "0123"}, {"\u00e9t\u00e9.en", "4567"}};
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
  EXPECT_THROW(progress_from_json("{\"epoch\": 7}"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": \"7\"}"), Error);
  EXPECT_THROW(progress_from_json("nonsense"), Error);
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

}  // namespace
}  // namespace dragoman
