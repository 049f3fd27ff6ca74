#include "evaluation/chrf.h"

#include <gtest/gtest.h>

#include "tests/evaluation/corpus_scores.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

const ChrfConfig kPlusPlus{.word_order = 2};

// The numbers are sacreBLEU 2.6.0's, with all digits.
struct Case {
  ChrfConfig config;
  std::size_t references;
  double score;
  const char* name_and_signature;
};
const std::vector<Case> kCases = {
    {{}, 1, 51.49930440196273, "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:0"},
    {{}, 2, 55.41813256430268, "chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no|version:0"},
    {{.word_order = 2},
     1,
     50.93295512034505,
     "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:0"},
    {{.word_order = 2},
     2,
     54.65590157628127,
     "chrF2++|nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:0"},
    {{.word_order = 1, .beta = 3},
     1,
     51.16501279668433,
     "chrF3+|nrefs:1|case:mixed|eff:yes|nc:6|nw:1|space:no|version:0"},
    {{.word_order = 1, .beta = 3},
     2,
     55.34654508441192,
     "chrF3+|nrefs:2|case:mixed|eff:yes|nc:6|nw:1|space:no|version:0"},
    {{.char_order = 3, .lowercase = true},
     1,
     61.27870876777796,
     "chrF2|nrefs:1|case:lc|eff:yes|nc:3|nw:0|space:no|version:0"},
    {{.char_order = 3, .lowercase = true},
     2,
     67.85534014562106,
     "chrF2|nrefs:2|case:lc|eff:yes|nc:3|nw:0|space:no|version:0"},
    {{.whitespace = true},
     1,
     56.47492087149077,
     "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:yes|version:0"},
    {{.whitespace = true},
     2,
     60.198865937215785,
     "chrF2|nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:yes|version:0"},
    {{.eps_smoothing = true},
     1,
     51.49899172309853,
     "chrF2|nrefs:1|case:mixed|eff:no|nc:6|nw:0|space:no|version:0"},
    {{.eps_smoothing = true},
     2,
     55.41212756482651,
     "chrF2|nrefs:2|case:mixed|eff:no|nc:6|nw:0|space:no|version:0"},
    {{.char_order = 0, .word_order = 2},
     1,
     49.23181574962714,
     "chrF2++|nrefs:1|case:mixed|eff:yes|nc:0|nw:2|space:no|version:0"},
    {{.char_order = 0, .word_order = 2},
     2,
     52.48731491647132,
     "chrF2++|nrefs:2|case:mixed|eff:yes|nc:0|nw:2|space:no|version:0"},
    {{.char_order = 9},
     1,
     43.61631221184444,
     "chrF2|nrefs:1|case:mixed|eff:yes|nc:9|nw:0|space:no|version:0"},
    {{.char_order = 9},
     2,
     47.00087208174163,
     "chrF2|nrefs:2|case:mixed|eff:yes|nc:9|nw:0|space:no|version:0"},
    {{.word_order = 2, .lowercase = true, .whitespace = true, .eps_smoothing = true},
     1,
     55.74815793122312,
     "chrF2++|nrefs:1|case:lc|eff:no|nc:6|nw:2|space:yes|version:0"},
    {{.word_order = 2, .lowercase = true, .whitespace = true, .eps_smoothing = true},
     2,
     58.566838573698675,
     "chrF2++|nrefs:2|case:lc|eff:no|nc:6|nw:2|space:yes|version:0"},
};

TEST(Chrf, CorpusScoresAreThoseOfSacreBleu) {
  for (const Case& c : kCases) {
    const References references = first_references(c.references);
    EXPECT_DOUBLE_EQ(corpus_chrf(kHypotheses, references, c.config), c.score)
        << c.name_and_signature;
    EXPECT_EQ(
        chrf_name(c.config) + "|" + chrf_signature(c.config, std::to_string(c.references), "0"),
        c.name_and_signature);
  }
}

TEST(Chrf, SentenceScoresOfShortLinesAreThoseOfSacreBleu) {
  struct Case {
    const char *hypothesis, *reference;
    double score, smoothed;
  };
  const std::vector<Case> cases = {
      {"", "", 0, 1.0000000000000002e-14},
      {"", "a", 0, 7.500000000000001e-15},
      {"a", "", 0, 1.0000000000000002e-14},
      {"a", "a", 100, 25},
      {"(hi)", "( hi )", 72.76119402985076, 54.46428571428571},
      {"a b", "b a", 50, 25},
      {".", ".", 100, 25},
      {"ab,", "ab", 86.20689655172413, 32.196969696969695},
  };
  for (const Case& c : cases) {
    ChrfConfig config = kPlusPlus;
    EXPECT_DOUBLE_EQ(sentence_chrf(c.hypothesis, Lines{c.reference}, config), c.score)
        << c.hypothesis << " / " << c.reference;
    config.eps_smoothing = true;
    EXPECT_DOUBLE_EQ(sentence_chrf(c.hypothesis, Lines{c.reference}, config), c.smoothed)
        << c.hypothesis << " / " << c.reference;
  }
}

TEST(Chrf, TheBestOfSeveralReferencesCounts) {
  const Lines references = {"xyz", "the cat sits", "the cat sat"};
  double best = 0;
  for (const std::string& reference : references)
    best = std::max(best, sentence_chrf("the cat sat down", Lines{reference}, kPlusPlus));
  EXPECT_EQ(sentence_chrf("the cat sat down", references, kPlusPlus), best);
}

TEST(Chrf, WhiteSpaceCountsOnlyIfAskedFor) {
  EXPECT_EQ(sentence_chrf("a b\u3000c", Lines{"abc"}), 100);
  EXPECT_LT(sentence_chrf("a b\u3000c", Lines{"abc"}, {.whitespace = true}), 100);
}

TEST(Chrf, WhiteSpaceAtTheEndOfALineCountsIfAskedForAsInSacreBleusFunctions) {
  EXPECT_DOUBLE_EQ(sentence_chrf("a cat  ", Lines{"a cat"}, {.whitespace = true}),
                   86.55536028119509);
}

TEST(Chrf, InvalidUtf8CountsAsReplacementCharacters) {
  EXPECT_EQ(sentence_chrf("\xFF\xE4\xBD", Lines{"\xEF\xBF\xBD\xEF\xBF\xBD"}), 100);
}

}  // namespace
}  // namespace dragoman
