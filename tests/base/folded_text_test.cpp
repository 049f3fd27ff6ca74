#include "base/folded_text.h"

#include <gtest/gtest.h>

#include <string>

#include "base/stopwatch.h"

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

}  // namespace
}  // namespace dragoman
