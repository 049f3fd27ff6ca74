#include "inference/line_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kSources = {" one two. three ", "", "Four. Five."},
                               kTargets = {"two. one", "six,", "Five. Four.\t"};

std::vector<TokenId> ended(const std::string& text) { return tokenizer_pair().target_tokens(text); }

TEST(LineScores, ALineIsOnePairOrOneOfEachSentence) {
  for (const bool by_sentence : {false, true}) {
    const auto lines = pairs_of_lines(tokenizer_pair(), kSources, kTargets,
                                      {.by_sentence = by_sentence, .threads = 2});
    ASSERT_EQ(lines.size(), 3u);
    ASSERT_EQ(lines[0].size(), by_sentence ? 2u : 1u);
    EXPECT_EQ(lines[0][0].source, ended(by_sentence ? "one two." : "one two. three"));
    EXPECT_EQ(lines[0][0].target, ended(by_sentence ? "two." : "two. one"));
    ASSERT_EQ(lines[1].size(), 1u);
    EXPECT_THAT(lines[1][0].source, ElementsAre(tokenizer().eos_id()));
    EXPECT_EQ(lines[2].back().target, ended(by_sentence ? "Four." : "Five. Four."));
  }
}

TEST(LineScores, SourcesOfAModelMayHaveNoEnd) {
  TokenizerPair tokenizers = tokenizer_pair();
  tokenizers.source_eos = false;
  const auto lines = pairs_of_lines(tokenizers, kSources, kTargets, {});
  EXPECT_EQ(lines[0][0].source, tokenizer().encode("one two. three"));
  EXPECT_EQ(lines[0][0].target, ended("two. one"));
}

TEST(LineScores, TheScoresOfALinesPairsStandOneBehindTheOther) {
  const auto lines = pairs_of_lines(tokenizer_pair(), kSources, kTargets, {.by_sentence = true});
  const auto scores =
      scores_of_lines(lines,
                      [](std::span<const SentencePair> pairs, const std::stop_token&) {
                        std::vector<std::vector<float>> scores;
                        for (const SentencePair& pair : pairs)
                          scores.push_back({static_cast<float>(pair.source.size()),
                                            static_cast<float>(pair.target.size())});
                        return scores;
                      },
                      {});
  ASSERT_EQ(scores.size(), 3u);
  const auto size = [](const std::vector<TokenId>& tokens) {
    return static_cast<float>(tokens.size());
  };
  EXPECT_THAT(scores[0], ElementsAre(size(lines[0][0].source), size(lines[0][0].target),
                                     size(lines[0][1].source), size(lines[0][1].target)));
  EXPECT_EQ(scores[1].size(), 2u);
}

}  // namespace
}  // namespace dragoman
