#include "training/scores.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

const ScoreOrder kByBleu = score_order(BestMetric::Bleu, kChrfFloor);
const ScoreOrder kByChrf = score_order(BestMetric::Chrf, kChrfFloor);

Scores with_bleu(double bleu, double loss) {
  Scores scores;
  scores.valid.bleu = bleu;
  scores.valid.loss = loss;
  return scores;
}

TEST(Scores, AScoreBeatsTheBestSoFarWhereTheMetricIsBetter) {
  const BestModel none, best{.update = 5, .value = 30, .loss = 2};
  EXPECT_TRUE(with_bleu(0, 9).beat(none, kByBleu));
  EXPECT_TRUE(with_bleu(30.1, 3).beat(best, kByBleu));
  EXPECT_FALSE(with_bleu(29.9, 1).beat(best, kByBleu));
  EXPECT_TRUE(with_bleu(30, 1.9).beat(best, kByBleu)) << "the loss breaks a tie";
}

TEST(Scores, AModelThatForgetsTheTextToKeepBeatsNothing) {
  Scores scores = with_bleu(99, 0);
  scores.keep_has_fallen = true;
  EXPECT_FALSE(scores.beat({}, kByBleu));
  EXPECT_FALSE(scores.for_patience(kByBleu).counts);
}

TEST(Scores, ForPatienceGreaterIsBetter) {
  Scores scores = with_bleu(30, 2);
  scores.valid.bleu_error = 0.5;
  const PatienceScore by_bleu = scores.for_patience(kByBleu);
  EXPECT_EQ(by_bleu.score, 30);
  EXPECT_EQ(by_bleu.standard_error, 0.5);
  EXPECT_EQ(by_bleu.loss, 2);
  const PatienceScore by_loss = scores.for_patience(score_order(BestMetric::Loss, kChrfFloor));
  EXPECT_EQ(by_loss.score, -2);
  EXPECT_EQ(by_loss.loss, 0);
  EXPECT_EQ(with_bleu(0.9, 5).for_patience(kByBleu).score, 0) << "it comes by chance";
}

TEST(Scores, OfModelsWithNextToNoChrfTheLossDecides) {
  const auto with_chrf = [](double chrf, double loss) {
    Scores scores;
    scores.valid.chrf = chrf;
    scores.valid.loss = loss;
    return scores;
  };
  const BestModel early{.update = 2, .value = 0.18, .loss = 7};
  EXPECT_TRUE(with_chrf(0, 6).beat(early, kByChrf));
  EXPECT_FALSE(with_chrf(4.9, 8).beat(early, kByChrf));
  EXPECT_TRUE(with_chrf(5.1, 8).beat(early, kByChrf));
  EXPECT_EQ(with_chrf(4.9, 8).for_patience(kByChrf).score, 0);
  const ScoreOrder earlier_version = score_order(BestMetric::Chrf, ProgressRecord{}.chrf_floor);
  EXPECT_FALSE(with_chrf(0, 6).beat(early, earlier_version)) << "a run keeps its rule";
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
