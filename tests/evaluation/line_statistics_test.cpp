#include "evaluation/line_statistics.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"

namespace dragoman {

namespace {

TEST(Words, WordsAreSplitAtUnicodeWhiteSpaceAsPythonDoes) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(" a\u2003b\x1C"
                        "c\u200Bd "),
            (Words{"a", "b", "c\u200Bd"}));
  EXPECT_EQ(split_words(" \u3000\n"), Words{});
}

TEST(Words, LinesOfAFileHaveNoWhiteSpaceAtTheirEnds) {
  EXPECT_EQ(stripped_lines({"a b \t", "\u3000", "", " c\u00A0\r"}),
            (std::vector<std::string>{"a b", "", "", " c"}));
}

using Symbols = std::vector<std::uint32_t>;
using Counts = std::map<Symbols, std::int64_t>;

Counts count_ngrams(const Symbols& symbols, std::size_t n) {
  Counts counts;
  for (std::size_t i = 0; i + n <= symbols.size(); ++i)
    ++counts[Symbols(symbols.begin() + static_cast<std::ptrdiff_t>(i),
                     symbols.begin() + static_cast<std::ptrdiff_t>(i + n))];
  return counts;
}

/// Section 2.1 of the BLEU paper, word for word.
std::int64_t clipped_matches(const Symbols& hypothesis, const std::vector<Symbols>& references,
                             std::size_t n) {
  Counts limits;
  for (const Symbols& reference : references)
    for (const auto& [ngram, count] : count_ngrams(reference, n))
      limits[ngram] = std::max(limits[ngram], count);
  std::int64_t matches = 0;
  for (const auto& [ngram, count] : count_ngrams(hypothesis, n))
    matches += std::min(count, limits[ngram]);
  return matches;
}

TEST(NgramMatcher, MatchesAreThoseOfCountingNgramsInMaps) {
  constexpr int kOrder = 5;
  NgramMatcher matcher(kOrder);  // one for all lines, as the metrics use it
  for (std::uint64_t line = 0; line < 2000; ++line) {
    RandomStream random(line);
    const auto sequence = [&] {
      const std::uint64_t alphabet = 1 + random.below(4);
      Symbols symbols(random.below(random.below(10) == 0 ? 200 : 12));
      for (auto& symbol : symbols) symbol = static_cast<std::uint32_t>(random.below(alphabet));
      return symbols;
    };
    const Symbols hypothesis = sequence();
    std::vector<Symbols> references;
    std::size_t symbols = 0;
    for (std::uint64_t r = random.below(4); r > 0; --r) {
      references.push_back(sequence());
      symbols += references.back().size();
    }
    matcher.start(symbols);
    for (const Symbols& reference : references) matcher.add_reference(reference);
    std::vector<std::int64_t> matches(kOrder), expected;
    matcher.match(hypothesis, matches);
    for (std::size_t n = 1; n <= kOrder; ++n)
      expected.push_back(clipped_matches(hypothesis, references, n));
    ASSERT_EQ(matches, expected) << "line " << line;
  }
}

TEST(NgramMatcher, SymbolsThatDifferInTheHighestBitsAreToldApart) {
  NgramMatcher matcher(2);
  matcher.start(2);
  matcher.add_reference(Symbols{1, 0x80000000});
  std::vector<std::int64_t> matches(2);
  matcher.match(Symbols{1, 0x80000001, 0xFFFFFFFF, 0}, matches);
  EXPECT_EQ(matches, (std::vector<std::int64_t>{1, 0}));
}

}  // namespace

}  // namespace dragoman
