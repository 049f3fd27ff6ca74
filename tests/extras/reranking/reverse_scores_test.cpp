#include "extras/reranking/reverse_scores.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

TranslationList list_of(std::int64_t line, const std::vector<std::string>& texts) {
  TranslationList all;
  for (const std::string& text : texts) all.push_back({.line = line, .text = text, .score = -1});
  return all;
}

/// A model whose translation of each sentence is the sentence itself.
ReverseModel copying_model(HostEngine& engine) {
  return {.tokenizers = tokenizer_pair(),
          .max_positions = engine.max_positions(),
          .score =
              [&engine](std::span<const SentencePair> pairs, const std::stop_token& stop) {
                return forced_scores(std::vector<HostEngine*>{&engine}, pairs, {}, stop);
              },
          .pairing = {}};
}

TEST(ReverseScores, TheSourceIsScoredGivenEachTranslation) {
  CopyingEngine engine;
  std::vector<TranslationList> lists = {list_of(0, {"one two.", "three two."}),
                                        list_of(1, {"Four", "six,"})};
  EXPECT_EQ(add_reverse_scores(lists, std::vector<std::string>{"one two.", "six,"},
                               copying_model(engine), {}),
            0);
  EXPECT_GT(lists[0][0].reverse, lists[0][1].reverse);
  EXPECT_GT(lists[1][1].reverse, lists[1][0].reverse);
  EXPECT_EQ(lists[0][0].score, -1) << "the score of the list stays";
}

TEST(ReverseScores, TheyAreThoseOfATokenHoweverManyThereAre) {
  CopyingEngine engine;
  const std::string source = "one two three", text = "one three three";
  std::vector<TranslationList> lists = {list_of(0, {text}), list_of(1, {text + " " + text})};
  add_reverse_scores(lists, std::vector<std::string>{source, source + " " + source},
                     copying_model(engine), {});
  EXPECT_LT(lists[0][0].reverse, -1);
  EXPECT_NEAR(lists[1][0].reverse / lists[0][0].reverse, 1, 0.2) << "</s> stands once in both";
}

TEST(ReverseScores, ALineThatIsTooLongForTheModelIsLeftOut) {
  CopyingEngine engine(6);
  const std::string text = "one two three one two three one two three";
  std::vector<TranslationList> lists = {list_of(0, {"one", text}), list_of(1, {"six,", "one"})};
  EXPECT_EQ(
      add_reverse_scores(lists, std::vector<std::string>{"one", "six,"}, copying_model(engine), {}),
      1);
  EXPECT_EQ(lists[0][0].reverse, 0);
  EXPECT_EQ(lists[0][1].reverse, 0);
  EXPECT_LT(lists[1][1].reverse, 0);
}

}  // namespace
}  // namespace dragoman
