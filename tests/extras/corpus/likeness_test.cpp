// Texts that are like each other, against the comparison of all with all.
#include "extras/corpus/likeness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace dragoman {
namespace {

std::string random_text(RandomStream& random) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += static_cast<char>('a' + random.below(26));
  return text;
}

TEST(Likeness, TheLikenessOfEqualLettersIsOneWhateverSignsDigitsAndCase) {
  const LetterGroups one = letter_groups("It's 12 o'clock: sleep!"),
                     other = letter_groups("ITS 3 OCLOCK, Sléep");
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(likeness(one, other), 1);
  EXPECT_EQ(likeness(letter_groups("abcd"), letter_groups("wxyz")), 0);
  EXPECT_EQ(likeness(letter_groups("abcd"), letter_groups("abce")), 1.0 / 3);
  EXPECT_NE(letter_groups("1").text, letter_groups("2").text);
}

TEST(Likeness, TheLikenessIsEstimatedWithoutBiasWithinTheStandardError) {
  RandomStream random(1);
  double sum = 0, squares = 0;
  constexpr int kPairs = 300;
  for (int i = 0; i < kPairs; ++i) {
    std::string text = random_text(random);
    const LetterGroups one = letter_groups(text);
    text.replace(random.below(50), 3, "???");
    const LetterGroups other = letter_groups(text);
    const double error =
        estimated_likeness(sketch_of(one), sketch_of(other)) - likeness(one, other);
    sum += error;
    squares += error * error;
  }
  EXPECT_NEAR(sum / kPairs, 0, 0.015);
  EXPECT_LT(squares / kPairs, 0.08 * 0.08);
}

TEST(SimilarTexts, TheSearchFindsNearlyAllThatTheComparisonOfAllWithAllFinds) {
  RandomStream random(2);
  constexpr double kLeast = 0.75;
  std::vector<LetterGroups> groups;
  std::vector<LikenessSketch> sketches;
  for (int i = 0; i < 600; ++i) {
    std::string text = random_text(random);
    for (int copy = 0; copy < 2; ++copy) {
      groups.push_back(letter_groups(text));
      sketches.push_back(sketch_of(groups.back()));
      text[random.below(text.size())] = 'e';
      text[random.below(text.size())] = 'n';
    }
  }
  const SimilarTexts index(sketches, 2);
  int all = 0, found = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    bool has_similar = false;
    for (std::size_t j = 0; j < i; ++j)
      has_similar = has_similar || likeness(groups[i], groups[j]) >= kLeast;
    const auto like =
        index.find_similar(sketches[i], static_cast<std::int64_t>(i), kLeast, [&](std::int64_t j) {
          return likeness(groups[i], groups[static_cast<std::size_t>(j)]) >= kLeast;
        });
    EXPECT_TRUE(has_similar || !like);
    all += has_similar ? 1 : 0;
    found += like ? 1 : 0;
  }
  EXPECT_GT(all, 300);
  EXPECT_GE(found, 0.95 * all);
}

TEST(SimilarTexts, TheFirstOfEqualTextsIsFound) {
  std::vector<LikenessSketch> sketches;
  for (const char* text : {"one", "two", "One!", "three"})
    sketches.push_back(sketch_of(letter_groups(text)));
  const SimilarTexts index(sketches, 1);
  EXPECT_EQ(index.find_equal(sketches[2]), 0);
  EXPECT_EQ(index.find_equal(sketches[1]), 1);
  EXPECT_EQ(index.find_equal(sketch_of(letter_groups("four"))), std::nullopt);
}

}  // namespace
}  // namespace dragoman
