#include "evaluation/score_groups.h"

#include <gtest/gtest.h>

#include "evaluation/evaluate.h"
#include "tests/evaluation/corpus_scores.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

TEST(ScoreGroups, LinesAreGroupedByLengthAndEachGroupIsScoredAsACorpus) {
  const Lines reference = {"a b c", "", "a b c d e f g", "g f e d c b a x", "one two three"};
  const Lines system = {"a b c", "x", "a b c d e f g", "a b c d e f g x", "one two four"};
  const EvaluateConfig config;
  const auto counts = count_systems({system, reference}, {reference}, config, "");
  const auto groups = scores_by_length(counts, reference);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].name, "0–5");
  EXPECT_EQ(groups[0].lines, 3);
  EXPECT_EQ(groups[1].name, "6–10");
  EXPECT_EQ(groups[1].lines, 2);
  EXPECT_EQ(groups[1].words, 6);
  const Lines long_system = {system[2], system[3]}, long_reference = {reference[2], reference[3]};
  EXPECT_EQ(groups[1].scores[0][0], corpus_bleu(long_system, {long_reference}).score);
  EXPECT_EQ(groups[1].scores[1][0], corpus_chrf(long_system, {long_reference}));
  EXPECT_NEAR(groups[1].scores[1][1], 100, 1e-9);
}

TEST(ScoreGroups, WordsAreCountedByTheirFrequency) {
  const Lines reference = {"the cat", "the dog.", "a the"}, system = {"The dog", "dog dog.", "a b"};
  const auto groups = words_by_frequency({system}, reference, tokenization_of(BleuTokenizer::V13a));
  ASSERT_EQ(groups.size(), 2U);
  // cat, dog, a and the full stop stand once; the system has dog three times, and a and the stop.
  EXPECT_EQ(groups[0].name, "1");
  EXPECT_EQ(groups[0].words, 4);
  EXPECT_DOUBLE_EQ(groups[0].f1[0], 200.0 * 3 / (4 + 5));
  EXPECT_EQ(groups[1].name, "2–4");
  EXPECT_EQ(groups[1].words, 3);
  EXPECT_DOUBLE_EQ(groups[1].f1[0], 200.0 * 1 / (3 + 1));
}

}  // namespace
}  // namespace dragoman
