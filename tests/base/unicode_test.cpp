#include "base/unicode.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "base/machine.h"

namespace dragoman {
namespace {

TEST(FoldedText, TextsThatDifferInFormCaseAndWhiteSpaceAreOne) {
  for (const char* text :
       {"Ein  Café in 10\u2074 m\u00B2", "ein cafe\u0301 IN 104\u00A0M2 ",
        "\tEIN CAF\u00C9 \u3000in \uFF11\uFF10\uFF14 m2", "ein ca\u00ADfé in 104 m2"})
    EXPECT_EQ(folded(text), "ein café in 104 m2");
  EXPECT_EQ(folded(" A  cat.\t"), "a cat.");
  EXPECT_EQ(folded("Straße"), "strasse");
  EXPECT_NE(folded("a cat"), folded("a cat."));
  EXPECT_EQ(folded("\u2003 "), "");
}

TEST(FoldedText, LettersAndDigitsStandWithoutSignsAndAccents) {
  EXPECT_EQ(letters_and_digits("Ein Café, \u201Cwo?\u201D 7!"), "eincafewo7");
  EXPECT_EQ(letters_and_digits("A cat, 7."), "acat7");
  EXPECT_EQ(letters_and_digits("...\u2026"), "");
}

TEST(FoldedText, ALongRunOfMarksTakesNoQuadraticTime) {
  std::string marks = "a";
  for (int i = 0; i < 100'000; ++i) marks += i % 2 == 0 ? "\u0323" : "\u0301";
  const Stopwatch watch;
  EXPECT_FALSE(folded(marks).empty());
  EXPECT_EQ(letters_and_digits(marks), "a");
  EXPECT_LT(watch.seconds(), 5);
}

TEST(FoldedText, ALongTextIsFoldedAsItsParts) {
  std::string text, expected;
  for (int i = 0; i < 1000; ++i) {
    text += "Cafe\u0301 \uFF11\u20DD ";
    expected += i == 0 ? "caf\u00E9 1\u20DD" : " caf\u00E9 1\u20DD";
  }
  EXPECT_EQ(folded(text), expected);
}

CharacterSet characters_of(std::string_view text) {
  CharacterSet set;
  set.add_all(text);
  return set;
}

TEST(CharacterSet, ATextHasItsCharacters) {
  const CharacterSet set = characters_of("a été 猫\U0001F600");
  EXPECT_TRUE(set.contains_all("tété 猫"));
  EXPECT_FALSE(set.contains_all("tête 猫"));
  for (const char32_t c : {U'b', U'\u0301', U'犬', U'\U0001F601', U'\U0010FFFF'})
    EXPECT_FALSE(set.contains(c));
  EXPECT_EQ(set.count(), 6);
  EXPECT_EQ(set.characters(), U" até猫\U0001F600");
  EXPECT_EQ(CharacterSet().count(), 0);
}

TEST(CharacterSet, RangesAreReadAsTheyAreWritten) {
  EXPECT_EQ(characters_of("abcx é").ranges(), "20,61-63,78,E9");
  EXPECT_EQ(characters_of("\U0010FFFF\u4e00\u4e01").ranges(), "4E00-4E01,10FFFF");
  EXPECT_EQ(CharacterSet().ranges(), "");
  for (const char* text : {"", "a", "hello world", "a été 猫犬 \U0001F600\U0001F601"}) {
    const CharacterSet set = characters_of(text);
    EXPECT_EQ(CharacterSet::from_ranges(set.ranges()), set) << text;
  }
}

TEST(CharacterSet, OtherTextsAreNotRanges) {
  for (const char* text : {"x", "20-", "-20", "7E-20", "20,20", "61-70,65", "110000", "20,", ",20",
                           "20 ", "100000020", "20--30"})
    EXPECT_THROW(CharacterSet::from_ranges(text), Error) << text;
}

TEST(CharacterSet, AnIntersectionHasWhatBothHave) {
  CharacterSet set = characters_of("ab猫");
  set.intersect(characters_of("b\U0001F600"));
  EXPECT_EQ(set, characters_of("b"));
  set.intersect(characters_of("猫"));
  EXPECT_EQ(set, CharacterSet());
}

TEST(CharacterSet, SetsAreJoined) {
  CharacterSet set = characters_of("ab"), other = characters_of("b猫");
  CharacterSet turned = other;
  set.join(other);
  turned.join(characters_of("ab"));
  EXPECT_EQ(set, characters_of("ab猫"));
  EXPECT_EQ(turned, set);
}

TEST(NormalForms, ALongTextIsComposedAsItsParts) {
  const auto repeated = [](std::string_view text) {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += text;
    return all;
  };
  const std::string text = repeated("\u304C\uAC01\u1E69\u0414");  // all but the last have marks
  EXPECT_EQ(normalised(normalised(text, NormalForm::Nfd), NormalForm::Nfc), text);
  EXPECT_EQ(normalised(repeated("\uFF76\uFF9E"), NormalForm::Nfkc), repeated("\u30AC"));
}

TEST(NormalForms, TextsAreComposedAndDecomposed) {
  EXPECT_EQ(normalised("e\u0301 \uFB01", NormalForm::Nfc), "\u00E9 \uFB01");
  EXPECT_EQ(normalised("\u00E9 \uAC00", NormalForm::Nfd), "e\u0301 \u1100\u1161");
  EXPECT_EQ(normalised("\uFB01\uFF21\u2026", NormalForm::Nfkc), "fiA...");
  EXPECT_EQ(normalised("", NormalForm::Nfc), "");
  EXPECT_EQ(combining_class(U'\u0301'), 230);
  EXPECT_EQ(combining_class(U'a'), 0);
}

}  // namespace
}  // namespace dragoman
