#include "extras/report/word_changes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace dragoman {
namespace {

using Runs = std::vector<WordRun>;

TEST(WordChanges, WordsThatTheTextBeforeLacksAreMarked) {
  EXPECT_EQ(word_changes("the old man sings", "the young man sings well"),
            (Runs{{"the ", false}, {"young ", true}, {"man sings ", false}, {"well", true}}));
  EXPECT_EQ(word_changes("a b", "a b"), (Runs{{"a b", false}}));
  EXPECT_EQ(word_changes("", "a b"), (Runs{{"a b", true}}));
  EXPECT_EQ(word_changes("a b", ""), Runs{});
}

TEST(WordChanges, ACharacterOfHanOrKanaIsAWord) {
  EXPECT_EQ(word_changes("私は猫だ", "私は犬だ"),
            (Runs{{"私は", false}, {"犬", true}, {"だ", false}}));
}

TEST(WordChanges, ACharacterOfThaiIsAWordWithItsMarks) {
  EXPECT_EQ(word_changes("ฉันรู้", "ฉันรู"), (Runs{{"ฉัน", false}, {"รู", true}}));
}

/// The longest common subsequence by trying all subsequences of `a`.
std::size_t longest_common(const std::vector<int>& a, const std::vector<int>& b) {
  std::size_t longest = 0;
  for (unsigned chosen = 0; chosen < 1u << a.size(); ++chosen) {
    std::vector<int> part;
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((chosen >> i & 1) != 0) part.push_back(a[i]);
    auto at = b.begin();
    for (const int& word : part) {
      at = std::find(at, b.end(), word);
      if (at == b.end()) break;
      ++at;
      if (&word == &part.back()) longest = std::max(longest, part.size());
    }
  }
  return longest;
}

TEST(WordChanges, AsManyWordsAsPossibleAreKept) {
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    RandomStream random(5, trial);
    const auto draw = [&random](std::string& text) {
      std::vector<int> words(random.below(9));
      for (int& word : words) {
        word = static_cast<int>(random.below(3));
        text += static_cast<char>('a' + word);
        text += ' ';
      }
      return words;
    };
    std::string before, now, joined;
    const auto a = draw(before), b = draw(now);
    std::size_t kept = 0;
    for (const WordRun& run : word_changes(before, now)) {
      joined += run.text;
      if (!run.changed) kept += run.text.size() / 2;
    }
    EXPECT_EQ(joined, now);
    EXPECT_EQ(kept, longest_common(a, b)) << before << "/ " << now;
  }
}

}  // namespace
}  // namespace dragoman
