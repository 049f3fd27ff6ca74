#include "base/word_characters.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace dragoman {
namespace {

TEST(Unspaced, ScriptsWithoutSpacesAreKnown) {
  for (const char32_t c : code_points("漢かカภລབမខ。"))
    EXPECT_TRUE(is_unspaced(c)) << to_utf8({&c, 1});
  for (const char32_t c : code_points("aßжע가1.")) EXPECT_FALSE(is_unspaced(c)) << to_utf8({&c, 1});
}

TEST(WordCharacters, WordsGoOnWithLettersDigitsAndMarks) {
  for (const char32_t c : code_points("aß1\u0301가")) EXPECT_TRUE(is_word_character(c));
  for (const char32_t c : code_points(" .-漢")) EXPECT_FALSE(is_word_character(c));
}

}  // namespace
}  // namespace dragoman
