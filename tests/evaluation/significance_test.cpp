#include "evaluation/significance.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stop_token>

#include "evaluation/evaluate.h"
#include "tests/evaluation/corpus_scores.h"

namespace dragoman {

namespace {

// The expected values are those of NumPy 2.4 (Python 3.11).

TEST(NumpyRandom, NumbersAreThoseOfNumpysDefaultGenerator) {
  NumpyRandom below(12345), whole(12345);
  for (const std::uint32_t expected : {2100, 682, 2369, 951, 613, 2395, 1930, 2031})
    EXPECT_EQ(below.below(3004), expected);
  EXPECT_EQ(below.next64() >> 1, 3607348892368485766U);
  EXPECT_EQ(below.next64() >> 1, 3069666675758614433U);
  EXPECT_EQ(whole.next32() & 0xFF, 0b10011101U);  // the first bits of integers(2)
  EXPECT_EQ(NumpyRandom(1).below(1), 0U);
}

// The expected values are those of sacreBLEU 2.6.0 (Python 3.11).

/// The example lines, the same with words changed, and their second references.
Comparison compare_examples(const EvaluateConfig& config) {
  const auto changed = [](std::string line) {
    for (const auto& [from, to] : {std::pair("the", "a"), std::pair("ist", "war")})
      for (std::size_t at; (at = line.find(from)) != std::string::npos;) line.replace(at, 3, to);
    return line;
  };
  std::vector<std::string> other;
  for (const std::string& line : kHypotheses) other.push_back(changed(line));
  return compare(
      {"a", "b", "c"},
      count_systems({kHypotheses, other, kReferences[1]}, first_references(1), config, "v"),
      config);
}

struct Expected {
  double score, p_value, mean, interval;
};

void expect_scores(const Comparison& comparison, const std::vector<Expected>& expected) {
  ASSERT_EQ(comparison.metrics, (std::vector<std::string>{"BLEU", "chrF2", "TER"}));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const SystemScore& score = comparison.scores[i / 3][i % 3];
    EXPECT_DOUBLE_EQ(score.score, expected[i].score) << i;
    EXPECT_EQ(score.p_value.has_value(), i % 3 > 0);
    EXPECT_DOUBLE_EQ(score.p_value.value_or(0), expected[i].p_value) << i;
    EXPECT_DOUBLE_EQ(score.mean.value_or(0), expected[i].mean) << i;
    EXPECT_DOUBLE_EQ(score.interval.value_or(0), expected[i].interval) << i;
  }
}

TEST(Significance, ResamplingEndsWhenAStopIsRequested) {
  constexpr std::int64_t kSamples = 10'000;
  std::stop_source stop;
  std::atomic<std::int64_t> samples = 0;
  auto counts = count_systems({kHypotheses, kReferences[1]}, first_references(1), {}, "v");
  const ScoreTable plain = plain_scores(counts);
  counts.resize(1);
  counts[0].metric.resampled_score = [&](std::span<const float>) {
    if (++samples == 100) stop.request_stop();
    return 0.0;
  };
  const ScoreTable scores = paired_bootstrap(counts, kSamples, stop.get_token());
  EXPECT_LT(samples, kSamples);
  for (const ScoreTable& table : {scores, bootstrap_scores(counts, kSamples, stop.get_token()),
                                  paired_randomization(counts, kSamples, stop.get_token())})
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(table[0][s].score, plain[0][s].score);
      EXPECT_FALSE(table[0][s].mean || table[0][s].interval || table[0][s].p_value);
    }
  const auto pairs = paired_bootstrap_of_all(counts, kSamples, stop.get_token());
  ASSERT_EQ(pairs.size(), counts.size());
  EXPECT_TRUE(pairs[0].empty());
}

TEST(Significance, NothingIsCountedOnceAStopIsRequested) {
  std::stop_source stop;
  stop.request_stop();
  EvaluateConfig config;
  config.paired_bootstrap = true;
  const auto counts =
      count_systems({kHypotheses}, first_references(1), config, "v", stop.get_token());
  EXPECT_TRUE(counts.empty());
  EXPECT_TRUE(compare({"a"}, counts, config, stop.get_token()).scores.empty());
  EXPECT_TRUE(
      evaluate_lines(kHypotheses, first_references(1), config, "v", stop.get_token()).empty());
}

TEST(Significance, PairedBootstrapIsThatOfSacreBleu) {
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf", "ter"};
  config.paired_bootstrap = true;
  config.paired_bootstrap_n = 50;
  const Comparison comparison = compare_examples(config);
  expect_scores(comparison,
                {{23.618457310258595, 0, 22.98532868713304, 14.362870123702336},
                 {13.697686881580868, 0.11764705882352941, 13.177789965782706, 4.65681797195851},
                 {5.984248220668522, 0.0196078431372549, 5.728795631221573, 2.798326303088922},
                 {51.49930440196273, 0, 51.58241653442383, 8.432390213012695},
                 {41.85548850868977, 0.0784313725490196, 42.441593170166016, 11.788952827453613},
                 {29.341876140945356, 0.0196078431372549, 29.679275512695312, 13.121221542358398},
                 {48.0, 0, 49.79575729370117, 24.572650909423828},
                 {56.00000000000001, 0.0196078431372549, 57.0060920715332, 18.46154022216797},
                 {80.0, 0.0196078431372549, 79.40990447998047, 9.444446563720703}});
  EXPECT_EQ(comparison.signatures[0],
            "nrefs:1|bs:50|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:v");
}

TEST(Significance, EveryPairOfSystemsHasThePValueThatItHasWithTheFirstAsBaseline) {
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf", "ter"};
  const std::vector<std::vector<std::string>> systems = {kReferences[1], kHypotheses,
                                                         kReferences[0]};
  const auto pairs =
      paired_bootstrap_of_all(count_systems(systems, first_references(1), config, "v"), 50);
  ASSERT_EQ(pairs.size(), 3U);
  for (std::size_t m = 0; m < pairs.size(); ++m) {
    ASSERT_EQ(pairs[m].size(), 3U);
    for (const PairDifference& pair : pairs[m]) {
      const auto two = count_systems({systems[pair.first], systems[pair.second]},
                                     first_references(1), config, "v");
      const auto expected = paired_bootstrap(two, 50)[m];
      EXPECT_EQ(pair.p_value, expected[1].p_value);
      EXPECT_LT(pair.first, pair.second);
      EXPECT_LE(pair.low, *expected[1].mean - *expected[0].mean);
      EXPECT_GE(pair.high, *expected[1].mean - *expected[0].mean);
    }
  }
}

TEST(Significance, ApproximateRandomizationIsThatOfSacreBleu) {
  EvaluateConfig config;
  config.metrics = {"bleu", "chrf", "ter"};
  config.paired_approximate_randomization = true;
  config.paired_approximate_randomization_n = 100;
  expect_scores(compare_examples(config), {{23.618457310258595, 0, 0, 0},
                                           {13.697686881580868, 0.009900990099009901, 0, 0},
                                           {5.984248220668522, 0.009900990099009901, 0, 0},
                                           {51.49930440196273, 0, 0, 0},
                                           {41.85548850868977, 0.009900990099009901, 0, 0},
                                           {29.341876140945356, 0.06930693069306931, 0, 0},
                                           {48.0, 0, 0, 0},
                                           {56.00000000000001, 0.009900990099009901, 0, 0},
                                           {80.0, 0.009900990099009901, 0, 0}});
}

TEST(Significance, ASystemOfTheSameOutputHasNoPValue) {
  EvaluateConfig config;
  for (const bool bootstrap : {true, false}) {
    config.paired_bootstrap = bootstrap;
    config.paired_approximate_randomization = !bootstrap;
    const Comparison comparison = compare(
        {"a", "b", "c"},
        count_systems({kHypotheses, kHypotheses, kReferences[1]}, first_references(2), config, "v"),
        config);
    // A difference of 0 is not more than one of 0, so sacreBLEU finds a p-value below 0.01.
    EXPECT_FALSE(comparison.scores[0][1].p_value);
    EXPECT_TRUE(comparison.scores[0][2].p_value);
    EXPECT_EQ(comparison.same_output, (std::vector<bool>{false, true, false}));
    EXPECT_EQ(comparison.scores[0][0].score, comparison.scores[0][1].score);
  }
}

}  // namespace

}  // namespace dragoman
