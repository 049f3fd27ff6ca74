#include "base/utf8.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace dragoman {
namespace {

TEST(UpperCase, UpperCaseChangesEachCharacter) {
  EXPECT_EQ(upper_case("Straße, Ärger & café 2 ĳ ǆ ς жук 漢字"),
            "STRASSE, ÄRGER & CAFÉ 2 Ĳ Ǆ Σ ЖУК 漢字");
  EXPECT_EQ(upper_case(""), "");
}

TEST(TitleCase, TitleCaseChangesTheFirstLetterOfEachWord) {
  EXPECT_EQ(title_case("the \"old man\" sings o'clock, NATO's 2nd ǆ élan\tvital"),
            "The \"Old Man\" Sings O'clock, NATO's 2nd ǅ Élan\tVital");
  EXPECT_EQ(title_case("漢字"), "漢字");
}

TEST(CharacterStart, TheStartIsTheFirstByteOfTheCharacter) {
  const std::string_view text = "aß漢🙂";  // 1, 2, 3 and 4 bytes
  const std::size_t starts[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};
  for (std::size_t offset = 0; offset <= text.size(); ++offset)
    EXPECT_EQ(character_start(text, offset), starts[offset]) << offset;
  EXPECT_EQ(character_start("\x80\x80\x80\x80\x80", 4), 1U);
  EXPECT_EQ(character_start("", 0), 0U);
}

TEST(Strip, SpaceIsStrippedFromBothEnds) {
  EXPECT_EQ(strip(" \t\u00A0\u3000a \u00E9\u2028\u0085 "), "a \u00E9");
  EXPECT_EQ(strip("\u3000"), "");
  EXPECT_EQ(strip_left("\u3000\ta b\u00A0"), "a b\u00A0");
  EXPECT_EQ(strip_right("\ta b\u00A0\r\n "), "\ta b");
  EXPECT_EQ(strip(" \n "), "");
  EXPECT_EQ(strip(""), "");
  EXPECT_EQ(strip("\U0001F600"), "\U0001F600");
  const std::string text = "a" + std::string(1'000'000, 'b') + " ";
  std::size_t size = 0;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 10'000; ++i) size += strip(text).size();
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 0.5);
  EXPECT_EQ(size, 10'000 * (text.size() - 1));
}

TEST(WordsBetweenSpaces, AWordIsWhatStandsBetweenAnyWhiteSpace) {
  const std::string text = " one\u3000\u00E9t\u00E9,\t x\u00A0";
  std::vector<std::string_view> words;
  for (const ByteRange& word : words_between_spaces(text)) words.push_back(word.of(text));
  EXPECT_EQ(words, (std::vector<std::string_view>{"one", "\u00E9t\u00E9,", "x"}));
  EXPECT_EQ(words_between_spaces("a"), (std::vector<ByteRange>{{0, 1}}));
  EXPECT_TRUE(words_between_spaces(" \n").empty());
}

TEST(ControlCharacters, ControlCharactersAreThoseOfUnicodeAndItsLineEnds) {
  for (const char* text : {"", "a b", "\u00A0", "\u00E9 \u200B", "\uFEFF"})
    EXPECT_FALSE(has_control_character(text)) << text;
  for (const char* text :
       {"a\tb", "\n", "a\x1F", "\x7F", "\u0080", "\u0085", "\u009F", "\u2028", "b\u2029"})
    EXPECT_TRUE(has_control_character(text)) << text;
  EXPECT_TRUE(has_control_character({"a\0b", 3}));
  for (char32_t c = 0; c < 0xD800; ++c) {
    const std::string_view category = general_category(c);
    const bool is_control = category == "Cc" || category == "Zl" || category == "Zp";
    ASSERT_EQ(has_control_character(to_utf8({&c, 1})), is_control) << static_cast<unsigned>(c);
  }
}

TEST(CodePoints, OfATextThatEndsWithinACharacterNothingIsReadAfterItsEnd) {
  const std::string_view space = "\u2003";
  for (std::size_t length = 1; length < space.size(); ++length) {
    const std::string_view cut = space.substr(0, length);
    EXPECT_EQ(strip(cut), cut) << length;
    std::size_t offset = 0;
    EXPECT_NE(next_code_point(cut, offset), U'\u2003') << length;
    EXPECT_EQ(offset, length);
  }
}

TEST(Unspaced, ScriptsWithoutSpacesAreKnown) {
  for (const char32_t c : code_points("漢かカภລབမខ。"))
    EXPECT_TRUE(is_unspaced(c)) << to_utf8({&c, 1});
  for (const char32_t c : code_points("aßжע가1.")) EXPECT_FALSE(is_unspaced(c)) << to_utf8({&c, 1});
}

TEST(WordCharacters, WordsContinueWithLettersDigitsAndMarks) {
  for (const char32_t c : code_points("aß1\u0301가")) EXPECT_TRUE(is_word_character(c));
  for (const char32_t c : code_points(" .-漢")) EXPECT_FALSE(is_word_character(c));
}

TEST(ByteText, AnyBytesBecomeUtf8AndComeBack) {
  for (const char* text : {"", "data/train.en", "Übung.de", "\u65e5\u672c"})
    EXPECT_EQ(utf8_of_bytes(text), text);
  RandomStream random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes;
    for (std::uint64_t n = random.below(7); n > 0; --n) {
      if (random.chance(0.2))  // a code point that stands for a byte
        append_utf8(bytes, static_cast<char32_t>(0x100070 + random.below(0xA0)));
      else
        bytes += static_cast<char>(random.below(256));
    }
    const std::string text = utf8_of_bytes(bytes);
    ASSERT_EQ(find_invalid_utf8(text), std::string::npos);
    ASSERT_EQ(bytes_of_utf8(text), bytes);
  }
}

}  // namespace
}  // namespace dragoman
