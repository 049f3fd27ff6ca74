#include "extras/explanation/attention_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::FloatNear;

// Two heads of two numbers, two queries, two keys.
Activations::Attention two_positions() {
  return {.query = {1, 0, 0, 2, 0, 1, 1, 1},
          .key = {1, 0, 0, 0, 0, 0, 0, 3},
          .value = {},
          .context = {},
          .output = {},
          .stream = {}};
}

float share(double score, double other) {
  return static_cast<float>(std::exp(score) / (std::exp(score) + std::exp(other)));
}

TEST(AttentionWeights, WeightsAreTheSoftmaxOfTheScaledProductsOfEachHead) {
  const AttentionWeights weights = attention_weights(two_positions(), 2, 4, KeyMask::None);
  const double root = std::sqrt(2.0);
  EXPECT_NEAR(weights.at(0, 0, 0), share(1 / root, 0), 1e-6);
  EXPECT_NEAR(weights.at(0, 1, 0), 0.5, 1e-6);
  EXPECT_NEAR(weights.at(1, 0, 1), share(6 / root, 0), 1e-6);
  EXPECT_NEAR(weights.at(1, 1, 1), share(3 / root, 0), 1e-6);
}

TEST(AttentionWeights, KeysThatAreNotMaskedHaveScores) {
  const double root = std::sqrt(2.0);
  EXPECT_THAT(attention_weights(two_positions(), 2, 4, KeyMask::None).scores,
              ElementsAre(1 / root, 0, 0, 0, 0, 6 / root, 0, 3 / root));
  EXPECT_THAT(attention_weights(two_positions(), 2, 4, KeyMask::Causal).scores,
              ElementsAre(1 / root, 0, 0, 0, 0, 3 / root));
}

TEST(AttentionWeights, WeightsOfMaskedKeysAreExactlyZero) {
  const AttentionWeights weights = attention_weights(two_positions(), 2, 4, KeyMask::Causal);
  for (const std::int64_t head : {0, 1}) {
    EXPECT_EQ(weights.at(head, 0, 0), 1);
    EXPECT_EQ(weights.at(head, 0, 1), 0);
    EXPECT_NEAR(weights.at(head, 1, 0) + weights.at(head, 1, 1), 1, 1e-6);
  }
}

TEST(AttentionWeights, WeightsStayFiniteWhereScoresAreLarge) {
  Activations::Attention attention = two_positions();
  for (float& value : attention.query) value *= 1e18F;
  for (float& value : attention.key) value *= 1e18F;
  for (const float weight : attention_weights(attention, 2, 4, KeyMask::None).values)
    EXPECT_TRUE(std::isfinite(weight));
}

}  // namespace
}  // namespace dragoman
