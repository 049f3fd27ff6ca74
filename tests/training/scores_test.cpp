#include "training/scores.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

Scores with_bleu(double bleu, double loss) {
  Scores scores;
  scores.valid.bleu = bleu;
  scores.valid.loss = loss;
  return scores;
}

TEST(Scores, AScoreBeatsTheBestSoFarWhereTheMetricIsBetter) {
  const BestModel none, best{.update = 5, .value = 30, .loss = 2};
  EXPECT_TRUE(with_bleu(0, 9).beat(none, BestMetric::Bleu));
  EXPECT_TRUE(with_bleu(30.1, 3).beat(best, BestMetric::Bleu));
  EXPECT_FALSE(with_bleu(29.9, 1).beat(best, BestMetric::Bleu));
  EXPECT_TRUE(with_bleu(30, 1.9).beat(best, BestMetric::Bleu)) << "the loss breaks a tie";
}

TEST(Scores, AModelThatForgetsTheTextToKeepBeatsNothing) {
  Scores scores = with_bleu(99, 0);
  scores.keep_has_fallen = true;
  EXPECT_FALSE(scores.beat({}, BestMetric::Bleu));
  EXPECT_FALSE(scores.for_patience(BestMetric::Bleu).counts);
}

TEST(Scores, ForPatienceGreaterIsBetter) {
  Scores scores = with_bleu(30, 2);
  scores.valid.bleu_error = 0.5;
  const PatienceScore by_bleu = scores.for_patience(BestMetric::Bleu);
  EXPECT_EQ(by_bleu.score, 30);
  EXPECT_EQ(by_bleu.standard_error, 0.5);
  EXPECT_EQ(by_bleu.loss, 2);
  const PatienceScore by_loss = scores.for_patience(BestMetric::Loss);
  EXPECT_EQ(by_loss.score, -2);
  EXPECT_EQ(by_loss.loss, 0);
  EXPECT_EQ(with_bleu(0.9, 5).for_patience(BestMetric::Bleu).score, 0) << "it comes by chance";
}

TEST(Scores, TheTimeOfBothTextsCounts) {
  Scores scores;
  scores.valid.seconds = 2;
  EXPECT_EQ(scores.seconds(), 2);
  scores.keep.emplace().seconds = 3;
  EXPECT_EQ(scores.seconds(), 5);
}

}  // namespace
}  // namespace dragoman
