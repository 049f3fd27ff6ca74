#include "data/alignment/lexical_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "base/threads.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Words = std::vector<WordId>;

std::vector<std::uint32_t> all_of(const NumberedPairs& pairs) {
  std::vector<std::uint32_t> chosen(pairs.size());
  std::iota(chosen.begin(), chosen.end(), 0);
  return chosen;
}

NumberedPairs random_pairs(std::size_t count) {
  NumberedPairs pairs;
  RandomStream random(11);
  const auto side = [&] {
    Words words(1 + random.below(9));
    for (WordId& word : words) word = static_cast<WordId>(1 + random.below(1 + random.below(300)));
    return words;
  };
  for (std::size_t i = 0; i < count; ++i) pairs.add(side(), side());
  return pairs;
}

TEST(LexicalTable, PairsAreGivenBack) {
  NumberedPairs pairs;
  pairs.add(Words{3, 1}, Words{2});
  pairs.add(Words{}, Words{7, 7});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_THAT(pairs.source(0), ElementsAre(3, 1));
  EXPECT_THAT(pairs.target(0), ElementsAre(2));
  EXPECT_THAT(pairs.source(1), IsEmpty());
  EXPECT_THAT(pairs.target(1), ElementsAre(7, 7));
  EXPECT_EQ(pairs.source_numbers(), 4u);
  EXPECT_EQ(pairs.target_numbers(), 8u);
}

/// Words 1 and 2 occur in five pairs each, and meet once; 3 occurs once.
TEST(LexicalTable, WordsThatMeetOnceHaveAnEntryIfOneIsRare) {
  NumberedPairs pairs;
  for (int i = 0; i < 4; ++i) pairs.add(Words{1}, Words{1});
  for (int i = 0; i < 4; ++i) pairs.add(Words{2}, Words{2});
  pairs.add(Words{1}, Words{2});
  pairs.add(Words{2}, Words{3});
  const LexicalTable table(pairs, all_of(pairs), 1);
  ASSERT_NE(table.find(1, 1), nullptr);
  EXPECT_FLOAT_EQ(table.find(1, 1)->links, 4. / 4);  // 1 / ((1 + 1) (1 + 1)) a pair
  EXPECT_EQ(table.find(1, 2), nullptr);
  EXPECT_NE(table.find(2, 3), nullptr);
}

TEST(LexicalTable, WhatIsUnknownHasNoEntryAndHalfAnOccurrence) {
  NumberedPairs pairs;
  for (int i = 0; i < 10; ++i) pairs.add(Words{1, 2}, Words{1});
  LexicalTable table(pairs, all_of(pairs), 1);
  EXPECT_EQ(table.find(kUnknownWord, 1), nullptr);
  EXPECT_EQ(table.find(1, kUnknownWord), nullptr);
  EXPECT_EQ(table.find(99, 1), nullptr);
  EXPECT_EQ(table.find(1, 99), nullptr);
  table.prefetch(99, 1);
  EXPECT_EQ(table.source_links(99), 0);
  EXPECT_FLOAT_EQ(table.source_frequency(99) / table.source_frequency(1), 0.5F / 10);
}

TEST(LexicalTable, ARoundHasWhatWasCountedInAnyOrder) {
  const NumberedPairs pairs = random_pairs(3000);
  const auto filled = [&](int threads) {
    LexicalTable table(pairs, all_of(pairs), threads);
    parallel_for(std::int64_t{3000}, threads, [&](std::int64_t pair) {
      RandomStream random(5, pair);
      const auto number = static_cast<std::size_t>(pair);
      for (const WordId source : pairs.source(number))
        for (const WordId target : pairs.target(number))
          if (const LexicalEntry* entry = table.find(source, target))
            table.count(*entry, static_cast<float>(random.uniform()));
    });
    table.finish_round(threads);
    return table;
  };
  const LexicalTable one = filled(1), four = filled(4);
  double all = 0, by_source = 0, by_target = 0;
  for (WordId source = 1; source < one.sources(); ++source) {
    const auto entries = one.entries(source), same = four.entries(source);
    EXPECT_TRUE(std::ranges::is_sorted(entries, {}, &LexicalEntry::target));
    ASSERT_EQ(entries.size(), same.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(entries[i].target, same[i].target);
      ASSERT_EQ(entries[i].links, same[i].links);
      all += entries[i].links;
    }
    by_source += one.source_links(source);
    ASSERT_EQ(one.source_links(source), four.source_links(source));
  }
  for (WordId target = 1; target < pairs.target_numbers(); ++target) {
    by_target += one.target_links(target);
    ASSERT_EQ(one.target_links(target), four.target_links(target));
  }
  EXPECT_GT(all, 3000);
  EXPECT_NEAR(by_source, all, all * 1e-5);
  EXPECT_NEAR(by_target, all, all * 1e-5);
}

}  // namespace

}  // namespace dragoman
