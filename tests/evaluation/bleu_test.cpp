#include "evaluation/bleu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/evaluation/corpus_scores.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

// The numbers of both tables are sacreBLEU 2.6.0's (Python 3.11), with all digits.

TEST(Bleu, CorpusScoresAreThoseOfSacreBleu) {
  struct Case {
    BleuTokenizer tokenize;
    std::size_t references;
    bool lowercase;
    double score;
    const char* details;
  };
  const std::vector<Case> cases = {
      {BleuTokenizer::V13a, 1, false, 23.618457310258595,
       "69.2/52.4/27.8/6.7 (BP = 0.825 ratio = 0.839 hyp_len = 26 ref_len = 31)"},
      {BleuTokenizer::V13a, 1, true, 23.939870747438572,
       "73.1/52.4/27.8/6.7 (BP = 0.825 ratio = 0.839 hyp_len = 26 ref_len = 31)"},
      {BleuTokenizer::V13a, 2, false, 29.471870838704277,
       "80.8/66.7/38.9/6.7 (BP = 0.857 ratio = 0.867 hyp_len = 26 ref_len = 30)"},
      {BleuTokenizer::V13a, 2, true, 29.81662969929215,
       "84.6/66.7/38.9/6.7 (BP = 0.857 ratio = 0.867 hyp_len = 26 ref_len = 30)"},
      {BleuTokenizer::Intl, 1, false, 31.444688206530827,
       "74.2/50.0/31.8/15.8 (BP = 0.851 ratio = 0.861 hyp_len = 31 ref_len = 36)"},
      {BleuTokenizer::Intl, 1, true, 31.781042875403713,
       "77.4/50.0/31.8/15.8 (BP = 0.851 ratio = 0.861 hyp_len = 31 ref_len = 36)"},
      {BleuTokenizer::Intl, 2, false, 44.11704424586591,
       "87.1/69.2/50.0/21.1 (BP = 0.879 ratio = 0.886 hyp_len = 31 ref_len = 35)"},
      {BleuTokenizer::Intl, 2, true, 44.519981446551746,
       "90.3/69.2/50.0/21.1 (BP = 0.879 ratio = 0.886 hyp_len = 31 ref_len = 35)"},
      {BleuTokenizer::Char, 1, false, 52.08484600693325,
       "84.7/70.0/64.0/60.0 (BP = 0.754 ratio = 0.780 hyp_len = 85 ref_len = 109)"},
      {BleuTokenizer::Char, 1, true, 53.35710752009421,
       "88.2/72.5/65.3/60.0 (BP = 0.754 ratio = 0.780 hyp_len = 85 ref_len = 109)"},
      {BleuTokenizer::Char, 2, false, 89.82030514848506,
       "97.6/91.2/86.7/84.3 (BP = 1.000 ratio = 1.000 hyp_len = 85 ref_len = 85)"},
      {BleuTokenizer::Char, 2, true, 90.7422793774768,
       "98.8/92.5/88.0/84.3 (BP = 1.000 ratio = 1.000 hyp_len = 85 ref_len = 85)"},
      {BleuTokenizer::None, 1, false, 17.847735388754025,
       "63.2/50.0/18.2/6.2 (BP = 0.729 ratio = 0.760 hyp_len = 19 ref_len = 25)"},
      {BleuTokenizer::None, 1, true, 18.208477969445138,
       "68.4/50.0/18.2/6.2 (BP = 0.729 ratio = 0.760 hyp_len = 19 ref_len = 25)"},
      {BleuTokenizer::None, 2, false, 25.127853424309222,
       "68.4/64.3/27.3/6.2 (BP = 0.854 ratio = 0.864 hyp_len = 19 ref_len = 22)"},
      {BleuTokenizer::None, 2, true, 25.597736307716264,
       "73.7/64.3/27.3/6.2 (BP = 0.854 ratio = 0.864 hyp_len = 19 ref_len = 22)"},
  };
  for (const Case& c : cases) {
    const BleuConfig config{.tokenization = tokenization_of(c.tokenize), .lowercase = c.lowercase};
    const References references = first_references(c.references);
    const BleuScore score = corpus_bleu(kHypotheses, references, config);
    EXPECT_DOUBLE_EQ(score.score, c.score) << bleu_signature(config, "1", "0");
    EXPECT_EQ(bleu_details(score), c.details) << bleu_signature(config, "1", "0");
  }
}

TEST(Bleu, SentenceScoresWithSmoothingAreThoseOfSacreBleu) {
  struct Case {
    const char* hypothesis;
    SmoothMethod method;
    double value;
    bool effective_order;
    double score;
    const char* smooth;
  };
  const std::vector<Case> cases = {
      {"the cat sat on a mat", SmoothMethod::None, -1, false, 0.0, "smooth:none"},
      {"the mat", SmoothMethod::None, -1, false, 0.0, "smooth:none"},
      {"the cat sat on a mat", SmoothMethod::None, -1, true, 0.0, "smooth:none"},
      {"the mat", SmoothMethod::None, -1, true, 13.533528323661276, "smooth:none"},
      {"the cat sat on a mat", SmoothMethod::Floor, -1, false, 10.266900960803408,
       "smooth:floor[0.10]"},
      {"the mat", SmoothMethod::Floor, -1, false, 0.0, "smooth:floor[0.10]"},
      {"the cat sat on a mat", SmoothMethod::Floor, -1, true, 10.266900960803408,
       "smooth:floor[0.10]"},
      {"the mat", SmoothMethod::Floor, -1, true, 13.533528323661276, "smooth:floor[0.10]"},
      {"the cat sat on a mat", SmoothMethod::Floor, 0.5, false, 22.957488466614336,
       "smooth:floor[0.50]"},
      {"the mat", SmoothMethod::Floor, 0.5, false, 0.0, "smooth:floor[0.50]"},
      {"the cat sat on a mat", SmoothMethod::Floor, 0.5, true, 22.957488466614336,
       "smooth:floor[0.50]"},
      {"the mat", SmoothMethod::Floor, 0.5, true, 13.533528323661276, "smooth:floor[0.50]"},
      {"the cat sat on a mat", SmoothMethod::AddK, -1, false, 32.46679154750989,
       "smooth:add-k[1.00]"},
      {"the mat", SmoothMethod::AddK, -1, false, 13.533528323661276, "smooth:add-k[1.00]"},
      {"the cat sat on a mat", SmoothMethod::AddK, -1, true, 32.46679154750989,
       "smooth:add-k[1.00]"},
      {"the mat", SmoothMethod::AddK, -1, true, 13.533528323661276, "smooth:add-k[1.00]"},
      {"the cat sat on a mat", SmoothMethod::AddK, 0.5, false, 23.177905629073862,
       "smooth:add-k[0.50]"},
      {"the mat", SmoothMethod::AddK, 0.5, false, 13.533528323661276, "smooth:add-k[0.50]"},
      {"the cat sat on a mat", SmoothMethod::AddK, 0.5, true, 23.177905629073862,
       "smooth:add-k[0.50]"},
      {"the mat", SmoothMethod::AddK, 0.5, true, 13.533528323661276, "smooth:add-k[0.50]"},
      {"the cat sat on a mat", SmoothMethod::Exp, -1, false, 19.304869754804482, "smooth:exp"},
      {"the mat", SmoothMethod::Exp, -1, false, 0.0, "smooth:exp"},
      {"the cat sat on a mat", SmoothMethod::Exp, -1, true, 19.304869754804482, "smooth:exp"},
      {"the mat", SmoothMethod::Exp, -1, true, 13.533528323661276, "smooth:exp"},
  };
  const Lines references = {"the cat is on the mat"};
  for (const Case& c : cases) {
    const BleuConfig config{
        .smooth_method = c.method, .smooth_value = c.value, .effective_order = c.effective_order};
    const std::string signature = bleu_signature(config, "1", "0");
    EXPECT_DOUBLE_EQ(sentence_bleu(c.hypothesis, references, config).score, c.score)
        << c.hypothesis << " " << signature;
    EXPECT_NE(signature.find(std::string("|") + c.smooth + "|"), std::string::npos) << signature;
  }
}

TEST(Bleu, TheSignatureNamesAllOptionsThatMatter) {
  EXPECT_EQ(bleu_signature({}, "1", "dragoman-0.1.0"),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:dragoman-0.1.0");
  const BleuConfig config{.tokenization = tokenization_of(BleuTokenizer::Intl),
                          .lowercase = true,
                          .smooth_method = SmoothMethod::AddK,
                          .effective_order = true};
  EXPECT_EQ(bleu_signature(config, "var", "v"),
            "nrefs:var|case:lc|eff:yes|tok:intl|smooth:add-k[1.00]|version:v");
}

TEST(Bleu, TheReferenceItselfHas100AndNothingHas0) {
  EXPECT_NEAR(corpus_bleu(kReferences[0], {kReferences[0]}).score, 100, 1e-12);
  EXPECT_EQ(sentence_bleu("", Lines{"a b c d"}).score, 0);
  EXPECT_EQ(sentence_bleu("a b c d", Lines{""}).score, 0);
  EXPECT_EQ(sentence_bleu("", Lines{""}).score, 0);
  EXPECT_EQ(bleu_details(sentence_bleu("", Lines{""})),
            "0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)");
}

TEST(Bleu, TheLengthIsThatOfTheShorterOfTwoEquallyCloseReferences) {
  EXPECT_EQ(sentence_bleu("a b c", Lines{"a b c d", "a b"}).ref_len, 2);
  EXPECT_EQ(sentence_bleu("a b c", Lines{"a b", "a b c d"}).ref_len, 2);
  EXPECT_EQ(sentence_bleu("a b c", Lines{"a b c d e f", "a b c d"}).ref_len, 4);
}

TEST(Bleu, CorpusStatisticsAreTheSumOfTheLines) {
  // More lines than one block has, so that several threads take part.
  Lines hypotheses;
  References references(1);
  RandomStream random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string a, b;
    for (std::uint64_t n = random.below(12); n > 0; --n) a += "abc"[random.below(3)], a += ' ';
    for (std::uint64_t n = random.below(12); n > 0; --n) b += "abc"[random.below(3)], b += ' ';
    hypotheses.push_back(a);
    references[0].push_back(b);
  }
  const LineStatistics statistics = bleu_statistics(hypotheses, references, {});
  ASSERT_EQ(statistics.lines(), hypotheses.size());
  std::vector<double> sum(statistics.width);
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const auto alone = bleu_statistics({&hypotheses[i], 1}, {{references[0][i]}}, {});
    EXPECT_EQ(std::vector(statistics.line(i).begin(), statistics.line(i).end()), alone.values);
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += alone.values[k];
  }
  EXPECT_EQ(statistics.sum(), sum);
  EXPECT_DOUBLE_EQ(bleu_of_statistics(std::span<const double>(sum), {}).score,
                   corpus_bleu(hypotheses, references).score);
}

TEST(Bleu, InvalidUtf8CountsAsReplacementCharacters) {
  const BleuConfig config{.tokenization = tokenization_of(BleuTokenizer::Char), .lowercase = true};
  const BleuScore score =
      sentence_bleu("ab\xFF\xE4\xBD", Lines{"ab\xEF\xBF\xBD\xEF\xBF\xBD"}, config);
  EXPECT_EQ(score.sys_len, 4);
  EXPECT_NEAR(score.score, 100, 1e-12);
}

TEST(Bleu, UnequalLineCountsAreAnErrorThatNamesBoth) {
  try {
    corpus_bleu(Lines{"a", "b"}, {{"a", "b"}, {"a"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), Names("2 lines ... reference 2 ... 1 line"));
  }
  EXPECT_THROW(corpus_bleu(Lines{}, {Lines{}}), Error);
  EXPECT_THROW(corpus_bleu(Lines{"a"}, {}), Error);
}

}  // namespace
}  // namespace dragoman
