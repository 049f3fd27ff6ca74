#include "extras/server/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(Metrics, SmallTimesCountInALargeSum) {
  Metrics metrics;
  for (const double seconds : {1'234'567.25, 0.125, 0.003}) {
    metrics.begin();
    metrics.end({.client = "a", .method = "POST", .path = "/a", .status = 200, .seconds = seconds},
                "/a");
  }
  const std::string text = metrics.text(ServedModels(), 0);
  EXPECT_THAT(text, HasSubstr("\ndragoman_request_seconds_sum{path=\"/a\"} 1234567.378\n"));
  EXPECT_THAT(text, HasSubstr("{path=\"/a\",le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{path=\"/a\",le=\"60\"} 2\n"));
}

}  // namespace
}  // namespace dragoman
