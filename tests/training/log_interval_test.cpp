#include "training/log_interval.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dragoman {
namespace {

TEST(LogInterval, MeansAndSpeedsAreThoseSinceTheIntervalBegan) {
  LogInterval interval;
  interval.begin(100, 7);
  EXPECT_TRUE(interval.empty());
  interval.add(
      {.smoothed = 60, .negative_log_likelihood = 40, .source_tokens = 30, .target_tokens = 10}, 1);
  interval.add(
      {.smoothed = 20, .negative_log_likelihood = 20, .source_tokens = 30, .target_tokens = 10}, 3);
  EXPECT_FALSE(interval.empty());
  const IntervalMeans means = interval.means(104, 8);
  EXPECT_EQ(means.loss, 4);
  EXPECT_EQ(means.perplexity, std::exp(3.0));
  EXPECT_EQ(means.gradient_norm, 2);
  EXPECT_EQ(means.source_tokens_per_second, 15);
  EXPECT_EQ(means.target_tokens_per_second, 5);
  EXPECT_EQ(means.data_wait, 0.25);
  EXPECT_FALSE(means.alignment_loss) << "no target token had a link";
  interval.begin(104, 8);
  EXPECT_TRUE(interval.empty());
}

TEST(LogInterval, TheSpeedIsThatOfTrainingAlone) {
  LogInterval interval;
  interval.begin(0, 0);
  interval.add({.source_tokens = 10, .target_tokens = 10, .alignment = 6, .linked_tokens = 3}, 1);
  interval.exclude_seconds(3);
  EXPECT_EQ(interval.means(5, 0).target_tokens_per_second, 5);
  EXPECT_EQ(interval.means(5, 0).alignment_loss, 2);
}

}  // namespace
}  // namespace dragoman
