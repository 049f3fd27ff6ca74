#include "evaluation/ter.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/machine.h"
#include "evaluation/line_statistics.h"
#include "tests/evaluation/corpus_scores.h"

namespace dragoman {
namespace {

// The expected values are sacreBLEU 2.6.0's (Python 3.11).

TEST(Ter, CorpusScoresAreThoseOfSacreBleu) {
  struct Case {
    std::size_t references;
    TerConfig config;
    double score;
  };
  const std::vector<Case> cases = {
      {1, {false, false, false, false}, 48.0},
      {1, {false, false, false, true}, 52.0},
      {1, {false, true, true, false}, 44.0},
      {1, {false, true, false, true}, 48.0},
      {1, {true, false, false, false}, 38.70967741935484},
      {1, {true, false, true, false}, 35.13513513513514},
      {1, {true, true, false, true}, 44.0},
      {1, {true, true, true, false}, 36.666666666666664},
      {2, {false, false, false, false}, 50.0},
      {2, {false, true, true, true}, 46.51162790697674},
      {2, {true, false, false, false}, 44.44444444444444},
      {2, {true, true, true, true}, 42.30769230769231},
  };
  for (const Case& c : cases)
    EXPECT_DOUBLE_EQ(corpus_ter(kHypotheses, first_references(c.references), c.config), c.score)
        << ter_signature(c.config, std::to_string(c.references), "0");
}

TEST(Ter, EditsCountAShiftOfAnyLengthOnce) {
  struct Case {
    const char *hypothesis, *reference;
    std::int64_t edits;
  };
  for (const Case& c : std::vector<Case>{{"a b c d e", "c d e a b", 1},
                                         {"a b c d e f g", "d e f x a b c", 2},
                                         {"", "a b", 2},
                                         {"a b", "", 2},
                                         {"a a a b", "b a a a c", 2},
                                         {"x y", "x z y w", 2},
                                         {"a b c", "a b c", 0}}) {
    WordNumbering vocabulary;
    const auto hypothesis = vocabulary.add(split_words(c.hypothesis));
    const auto reference = vocabulary.add(split_words(c.reference));
    EXPECT_EQ(translation_edits(hypothesis, reference), c.edits)
        << c.hypothesis << " | " << c.reference;
  }
}

TEST(Ter, LongLinesNeedNoSquareOfMemory) {
  std::vector<std::uint32_t> hypothesis(60'000);
  std::iota(hypothesis.begin(), hypothesis.end(), 0u);
  std::vector<std::uint32_t> reference = hypothesis;
  reference[30'000] = 70'000;
  reset_peak_resident_memory();
  EXPECT_EQ(translation_edits(hypothesis, reference), 1);
  EXPECT_LT(peak_resident_memory(), std::int64_t{500'000'000});
}

TEST(Ter, TheSearchEndsForVeryDifferentLengths) {
  const std::vector<std::uint32_t> one = {7}, many(2000, 7), others(300, 9);
  EXPECT_EQ(translation_edits(one, many), 1999);
  EXPECT_EQ(translation_edits(many, one), 1999);
  EXPECT_EQ(translation_edits(others, many), 2000);
}

TEST(Ter, TokensAreThoseOfSacreBleu) {
  struct Case {
    const char* line;
    TerConfig config;
    const char* expected;
  };
  const TerConfig western{.normalized = true}, without{.no_punct = true},
      asian{.normalized = true, .asian_support = true},
      asian_without{.no_punct = true, .asian_support = true};
  for (const Case& c : std::vector<Case>{
           {"It's the dogs' day, 3.5-4 (a&amp;b)", western,
            "it 's the dogs' day , 3.5 - 4 ( a & b )"},
           {"It's the dogs' day, 3.5-4 (a&amp;b)", without, "it's the dogs' day 35-4 a&ampb"},
           {"東京は「雨」。Kana: カナ，１", western, "東京は「雨」。kana : カナ，１"},
           {"東京は「雨」。Kana: カナ，１", asian, "東 京 は 「 雨 」 。 kana : カナ ， １"},
           {"東京は「雨」。Kana: カナ，１", asian_without, "東京は雨kana カナ１"},
           {"猫,ネコ。a1", asian, "猫 , ネコ 。 a1"},
           {" A  b\u3000", {.case_sensitive = true}, "A b"},
           {"", western, ""},
       })
    EXPECT_EQ(tokenize_for_ter(c.line, c.config), c.expected) << c.line;
}

TEST(Ter, AnEmptyReferenceHas100Or0) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(corpus_ter(Lines{"a b"}, {Lines{""}}), 100);
  EXPECT_EQ(corpus_ter(Lines{""}, {Lines{""}}), 0);
  EXPECT_EQ(corpus_ter(Lines{"", "a"}, {Lines{"b", "a"}}), 50);
}

}  // namespace
}  // namespace dragoman
