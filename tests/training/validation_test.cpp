#include "training/validation.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/inference/copying_model.h"

namespace dragoman {

namespace {

// ---- the cross-attention of a pair --------------------------------------------------------------

TokenizerPair pair_of_tokenizers() {
  const auto one = std::make_shared<Tokenizer>(tokenizer().model_bytes(), "test");
  return {one, one};
}

std::string repeated(const std::string& word, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += word + " ";
  return text;
}

TEST(AttentionRecorder, TheLongestPairThatIsShortEnoughIsTaken) {
  CopyingEngine engine;
  const AttentionRecorder recorder(
      pair_of_tokenizers(), {"one", repeated("one", 40), "one two three", "two two two two", ""},
      {"two", "one", "three two", "one", ""});
  const RecordedAttention found = recorder.record(engine);
  ASSERT_EQ(found.source.size(), tokenizer().encode("one two three").size() + 1);
  EXPECT_EQ(found.source.back(), "</s>");
  EXPECT_EQ(found.target.size(), tokenizer().encode("three two").size() + 1);
  EXPECT_EQ(engine.slots_in_use(), 0u);
}

TEST(AttentionRecorder, ARowIsOfThePositionThatPredictsItsPiece) {
  CopyingEngine engine;
  const AttentionRecorder recorder(pair_of_tokenizers(), {"one two three"}, {"three two"});
  const RecordedAttention found = recorder.record(engine);
  const std::size_t keys = found.source.size();
  ASSERT_EQ(found.weights.size(), keys * found.target.size());
  std::vector<float> expected;
  std::vector<TokenId> source = tokenizer().encode("one two three"), read;
  source.push_back(tokenizer().eos_id());
  for (std::size_t t = 0; t < found.target.size(); ++t) {
    TableEngine::append_attention(source, read, expected);
    read.push_back(0);  // its length alone counts
  }
  EXPECT_EQ(found.weights, expected);
}

TEST(AttentionRecorder, NothingIsRecordedIfNothingFits) {
  CopyingEngine engine(2);
  const auto recorded = [&](const std::string& source, const std::string& target) {
    return AttentionRecorder(pair_of_tokenizers(), {source}, {target}).record(engine);
  };
  EXPECT_TRUE(recorded(repeated("one", 40), "one").empty());
  EXPECT_TRUE(recorded("", "").empty());
  EXPECT_TRUE(recorded("one two three", "one").empty()) << "more than the model has positions for";
  EXPECT_TRUE(AttentionRecorder(pair_of_tokenizers(), {}, {}).record(engine).empty());
}

// ---- the order of scores ------------------------------------------------------------------------

TEST(Validation, TiesAreBrokenByTheLoss) {
  EXPECT_TRUE(is_better(BestMetric::Bleu, {.value = 12.3, .loss = 5}, {.value = 12.2, .loss = 4}));
  EXPECT_FALSE(is_better(BestMetric::Bleu, {.value = 12.2, .loss = 3}, {.value = 12.3, .loss = 4}));
  EXPECT_TRUE(is_better(BestMetric::Bleu, {.value = 0, .loss = 5}, {.value = 0, .loss = 6}));
  EXPECT_FALSE(is_better(BestMetric::Bleu, {.value = 0, .loss = 6}, {.value = 0, .loss = 6}));
  // Equal as they are shown, to two decimals.
  EXPECT_TRUE(is_better(BestMetric::Chrf, {.value = 1e-6, .loss = 5}, {.value = 2e-6, .loss = 6}));
  EXPECT_TRUE(
      is_better(BestMetric::Loss, {.value = 1e-6, .loss = 1e-6}, {.value = 2e-6, .loss = 0}));
}

TEST(Validation, TheLossDecidesIfBleuIsBelowOne) {
  const auto better = [](const ValidationScore& score, const ValidationScore& than) {
    return is_better(BestMetric::Bleu, score, than);
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

// ---- the scores of both texts -------------------------------------------------------------------

Scores with_bleu(double bleu, double loss) {
  Scores scores;
  scores.valid.bleu = bleu;
  scores.valid.loss = loss;
  return scores;
}

TEST(Scores, AScoreBeatsTheBestSoFarIfTheMetricIsBetter) {
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

TEST(Scores, OneOfSeveralTextsMayDecide) {
  Scores scores = with_bleu(30, 2);
  scores.valid.parts = {{.name = "a", .bleu = 20, .chrf = 40, .bleu_error = 3},
                        {.name = "b", .bleu = 50, .chrf = 60, .bleu_error = 4}};
  EXPECT_FALSE(scores.beat({.update = 5, .value = 30.1, .loss = 3}, BestMetric::Bleu))
      << "all lines";
  scores.valid.deciding = scores.valid.parts[1];
  EXPECT_TRUE(scores.beat({.update = 5, .value = 49, .loss = 1}, BestMetric::Bleu));
  EXPECT_EQ(scores.for_patience(BestMetric::Chrf).score, 60);
  scores.valid.deciding = mean_of(scores.valid.parts);
  EXPECT_EQ(scores.for_patience(BestMetric::Bleu).score, 35);
  EXPECT_EQ(scores.for_patience(BestMetric::Bleu).standard_error, 2.5);
  EXPECT_EQ(scores.for_patience(BestMetric::Loss).score, -2);
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

TEST(Scores, TheLossDecidesBetweenModelsWithNextToNoChrf) {
  const auto with_chrf = [](double chrf, double loss) {
    Scores scores;
    scores.valid.chrf = chrf;
    scores.valid.loss = loss;
    return scores;
  };
  const BestModel early{.update = 2, .value = 0.18, .loss = 7};
  EXPECT_TRUE(with_chrf(0, 6).beat(early, BestMetric::Chrf));
  EXPECT_FALSE(with_chrf(4.9, 8).beat(early, BestMetric::Chrf));
  EXPECT_TRUE(with_chrf(5.1, 8).beat(early, BestMetric::Chrf));
  EXPECT_EQ(with_chrf(4.9, 8).for_patience(BestMetric::Chrf).score, 0);
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
