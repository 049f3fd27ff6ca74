#include "base/folded_text.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dragoman
