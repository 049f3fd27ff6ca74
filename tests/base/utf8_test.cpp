#include "base/utf8.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(UpperCase, ChangesEachCharacter) {
  EXPECT_EQ(upper_case("Straße, Ärger & café 2 ĳ ǆ ς жук 漢字"),
            "STRASSE, ÄRGER & CAFÉ 2 Ĳ Ǆ Σ ЖУК 漢字");
  EXPECT_EQ(upper_case(""), "");
}

TEST(TitleCase, ChangesTheFirstLetterOfEachWord) {
  EXPECT_EQ(title_case("the \"old man\" sings o'clock, NATO's 2nd ǆ élan\tvital"),
            "The \"Old Man\" Sings O'clock, NATO's 2nd ǅ Élan\tVital");
  EXPECT_EQ(title_case("漢字"), "漢字");
}

}  // namespace
}  // namespace dragoman
