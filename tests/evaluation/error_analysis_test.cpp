#include "evaluation/error_analysis.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/random.h"
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
  // The reference has cat, dog, a and the full stop once; the system has dog three times, and a and
  // the full stop.
  EXPECT_EQ(groups[0].name, "1");
  EXPECT_EQ(groups[0].words, 4);
  EXPECT_DOUBLE_EQ(groups[0].f1[0], 200.0 * 3 / (4 + 5));
  EXPECT_EQ(groups[1].name, "2–4");
  EXPECT_EQ(groups[1].words, 3);
  EXPECT_DOUBLE_EQ(groups[1].f1[0], 200.0 * 1 / (3 + 1));
}

using Lines = std::vector<std::string>;

const NgramOccurrences* find(const std::vector<NgramOccurrences>& ngrams, const std::string& text) {
  const auto found = std::find_if(ngrams.begin(), ngrams.end(),
                                  [&](const auto& ngram) { return ngram.text == text; });
  return found == ngrams.end() ? nullptr : &*found;
}

TEST(NgramDifferences, NgramsThatOnlyOneSystemFindsAreDifferences) {
  const Lines reference = {"a cat sat.", "a cat ran"}, first = {"a cat sat.", "a cat a cat ran"},
              second = {"the dog sat.", "a dog ran"};
  const auto ngrams = differing_ngrams({first, second}, {reference}, {}, 20);
  const auto* cat = find(ngrams, "a cat");
  ASSERT_NE(cat, nullptr);
  EXPECT_EQ(cat->order, 2);
  EXPECT_EQ(cat->in_reference, 2);
  EXPECT_EQ(cat->found, (std::vector<std::int64_t>{2, 0}));
  EXPECT_EQ(cat->superfluous, (std::vector<std::int64_t>{1, 0}));
  const auto* dog = find(ngrams, "dog");
  ASSERT_NE(dog, nullptr);
  EXPECT_EQ(dog->in_reference, 0);
  EXPECT_EQ(dog->superfluous, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(find(ngrams, "sat ."), nullptr) << "both have it";
}

TEST(NgramDifferences, NgramsThatASingleSystemLacksOrAddsAreDifferences) {
  const auto ngrams = differing_ngrams({{"a dog sat"}}, {{"a cat sat"}, {"the cat sat"}}, {}, 20);
  EXPECT_NE(find(ngrams, "cat"), nullptr);
  EXPECT_NE(find(ngrams, "dog sat"), nullptr);
  EXPECT_EQ(find(ngrams, "sat"), nullptr);
  EXPECT_EQ(find(ngrams, "a"), nullptr) << "one of the references has it";
}

TEST(NgramDifferences, CaseAndTokensAreThoseOfBleu) {
  const BleuConfig lower{.lowercase = true};
  EXPECT_TRUE(differing_ngrams({{"A Cat"}, {"a cat"}}, {{"a cat"}}, lower, 20).empty());
  EXPECT_FALSE(differing_ngrams({{"A Cat"}, {"a cat"}}, {{"a cat"}}, {}, 20).empty());
  const BleuConfig characters{.tokenization = tokenization_of(BleuTokenizer::Char)};
  EXPECT_NE(find(differing_ngrams({{"猫だ"}, {"犬だ"}}, {{"猫だ"}}, characters, 20), "猫 だ"),
            nullptr);
}

/// Counts every n-gram in the plainest way.
std::map<std::string, NgramOccurrences> counted(const std::vector<Lines>& systems,
                                                const Lines& reference) {
  const auto ngrams_of = [](const std::string& line) {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t begin = 0; begin < line.size(); begin += 2)
      for (std::size_t end = begin + 1; end <= std::min(line.size(), begin + 7); end += 2)
        ++counts[line.substr(begin, end - begin)];
    return counts;
  };
  std::map<std::string, NgramOccurrences> all;
  const auto entry = [&](const std::string& text) -> NgramOccurrences& {
    NgramOccurrences& ngram = all[text];
    ngram.order = static_cast<int>(text.size() + 1) / 2;
    ngram.found.resize(systems.size());
    ngram.superfluous.resize(systems.size());
    return ngram;
  };
  for (std::size_t line = 0; line < reference.size(); ++line) {
    auto expected = ngrams_of(reference[line]);
    for (const auto& [text, count] : expected) entry(text).in_reference += count;
    for (std::size_t s = 0; s < systems.size(); ++s)
      for (const auto& [text, count] : ngrams_of(systems[s][line])) {
        const std::int64_t found = std::min(count, expected[text]);
        entry(text).found[s] += found;
        entry(text).superfluous[s] += count - found;
      }
  }
  return all;
}

TEST(NgramDifferences, TheGreatestDifferencesOfEachPairOrderAndSideAreKept) {
  RandomStream random(7, 1);
  const auto draw = [&random] {
    Lines lines(30);
    for (std::string& line : lines)
      for (std::uint64_t words = 1 + random.below(9); words > 0; --words)
        line += join_text(line.empty() ? "" : " ", static_cast<char>('a' + random.below(4)));
    return lines;
  };
  const Lines reference = draw();
  const std::vector<Lines> systems = {draw(), draw(), draw()};
  const auto all = counted(systems, reference);
  const auto chosen = differing_ngrams(systems, {reference}, {}, 5);
  for (const NgramOccurrences& ngram : chosen) {
    const NgramOccurrences& expected = all.at(ngram.text);
    EXPECT_EQ(ngram.order, expected.order);
    EXPECT_EQ(ngram.in_reference, expected.in_reference);
    EXPECT_EQ(ngram.found, expected.found) << ngram.text;
    EXPECT_EQ(ngram.superfluous, expected.superfluous) << ngram.text;
  }
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      for (int order = 1; a != b && order <= 4; ++order) {
        std::vector<std::int64_t> differences, shown;
        for (const auto& [text, ngram] : all)
          if (ngram.order == order) differences.push_back(ngram.found[a] - ngram.found[b]);
        for (const NgramOccurrences& ngram : chosen)
          if (ngram.order == order) shown.push_back(ngram.found[a] - ngram.found[b]);
        std::sort(differences.rbegin(), differences.rend());
        std::sort(shown.rbegin(), shown.rend());
        for (std::size_t i = 0; i < 5 && i < differences.size() && differences[i] > 0; ++i)
          EXPECT_EQ(shown.at(i), differences[i]) << a << b << " order " << order << " place " << i;
      }
}

}  // namespace

}  // namespace dragoman
