#include "training/validation.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

ScoreOrder by(BestMetric metric) { return score_order(metric, kChrfFloor); }

TEST(Validation, TiesAreBrokenByTheLoss) {
  EXPECT_TRUE(
      is_better(by(BestMetric::Bleu), {.value = 12.3, .loss = 5}, {.value = 12.2, .loss = 4}));
  EXPECT_FALSE(
      is_better(by(BestMetric::Bleu), {.value = 12.2, .loss = 3}, {.value = 12.3, .loss = 4}));
  EXPECT_TRUE(is_better(by(BestMetric::Bleu), {.value = 0, .loss = 5}, {.value = 0, .loss = 6}));
  EXPECT_FALSE(is_better(by(BestMetric::Bleu), {.value = 0, .loss = 6}, {.value = 0, .loss = 6}));
  // The same as they are shown.
  EXPECT_TRUE(
      is_better(by(BestMetric::Chrf), {.value = 1e-6, .loss = 5}, {.value = 2e-6, .loss = 6}));
  EXPECT_TRUE(
      is_better(by(BestMetric::Loss), {.value = 1e-6, .loss = 1e-6}, {.value = 2e-6, .loss = 0}));
}

TEST(Validation, TheLossDecidesWhereBleuIsBelowOne) {
  const auto better = [](const ValidationScore& score, const ValidationScore& than) {
    return is_better(by(BestMetric::Bleu), score, than);
  };
  EXPECT_TRUE(better({.value = 0, .loss = 5}, {.value = 0.99, .loss = 6}));
  EXPECT_FALSE(better({.value = 0.99, .loss = 6}, {.value = 0, .loss = 5}));
  EXPECT_TRUE(better({.value = 1, .loss = 6}, {.value = 0.99, .loss = 5}));
  EXPECT_FALSE(better({.value = 0.99, .loss = 5}, {.value = 1, .loss = 6}));
}

TEST(Validation, AScoreMayFallByTheToleranceAndNoMore) {
  EXPECT_FALSE(has_fallen(BestMetric::Bleu, 39.6, 40, 1));
  EXPECT_TRUE(has_fallen(BestMetric::Bleu, 39.59, 40, 1));
  EXPECT_FALSE(has_fallen(BestMetric::Bleu, 45, 40, 0));
  EXPECT_FALSE(has_fallen(BestMetric::Bleu, 0, 0, 0));
  EXPECT_FALSE(has_fallen(BestMetric::Loss, 2.02, 2, 1));
  EXPECT_TRUE(has_fallen(BestMetric::Loss, 2.021, 2, 1));
}

}  // namespace
}  // namespace dragoman
