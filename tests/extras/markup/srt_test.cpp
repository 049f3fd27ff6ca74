#include "extras/markup/markup_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {
namespace {

std::vector<std::string> texts_of(const std::string& srt) {
  std::vector<std::string> texts;
  for (const Passage& passage : parse_srt(srt).passages) texts.push_back(passage.text);
  return texts;
}

const std::string kFirst = "1\n00:00:01,000 --> 00:00:02,500\n";
const std::string kSecond = "\n\n2\n00:00:02,600 --> 00:00:04,000\n";

TEST(Srt, NumbersAndTimesStay) {
  const std::string srt = kFirst + "One two." + kSecond + "Three four.\n\n";
  EXPECT_EQ(translated(parse_srt(srt), reversed),
            kFirst + "two. One" + kSecond + "four. Three\n\n");
}

TEST(Srt, ASentenceOverTwoCaptionsIsJoinedAndDividedAgain) {
  const std::string srt = kFirst + "One two three" + kSecond + "four five.\nSix.";
  EXPECT_EQ(texts_of(srt), (std::vector<std::string>{"One two three four five.", "Six."}));
  EXPECT_EQ(translated(parse_srt(srt), in_order), srt);
  EXPECT_EQ(translated(parse_srt(srt), reversed),
            kFirst + "five. four" + kSecond + "three two One\nSix.");
}

TEST(Srt, LinesOfACaptionAreOneSentenceUnlessSpeakersChange) {
  EXPECT_EQ(texts_of(kFirst + "one two\r\nthree"), (std::vector<std::string>{"one two three"}));
  EXPECT_EQ(texts_of(kFirst + "- One?\n- Two"), (std::vector<std::string>{"One?", "Two"}));
  EXPECT_EQ(translated(parse_srt(kFirst + "one two\r\nthree"), in_order),
            kFirst + "one two\r\nthree");
}

TEST(Srt, TagsAndPositionsStay) {
  const std::string srt = kFirst + "{\\an8}<i>one two</i> three" + kSecond + "<i>four</i>";
  EXPECT_EQ(translated(parse_srt(srt), in_order), srt);
  EXPECT_EQ(texts_of(kFirst + "I <3 you"), (std::vector<std::string>{"I <3 you"}));
}

TEST(Srt, AShortTranslationLosesNoCaption) {
  const auto one_word = [](std::string_view) { return AlignedText{.text = "eins"}; };
  const auto nothing = [](std::string_view) { return AlignedText{}; };
  const std::string srt = kFirst + "one\ntwo" + kSecond + "three";
  EXPECT_EQ(translated(parse_srt(srt), one_word), kFirst + "eins\n" + kSecond);
  EXPECT_EQ(translated(parse_srt(srt), nothing), kFirst + "\n" + kSecond);
}

TEST(Srt, SignsOfSpeakersAndOfSongsStay) {
  for (const std::string sign : {"- ", "-", "\u2013 ", "\u266A "}) {
    const std::string srt = kFirst + sign + "One two.\n" + sign + "Three four.";
    EXPECT_EQ(translated(parse_srt(srt), reversed),
              kFirst + sign + "two. One\n" + sign + "four. Three");
  }
}

TEST(Srt, TheSignAtTheEndOfASongStays) {
  for (const char* text : {"\u266A One two \u266A\n\u266A Three \u266A ", "One two. \u266A\n\u266A",
                           "\u266A\u266A\nOne two\u266A"}) {
    std::string expected = text;
    if (const auto at = expected.find("One two."); at != std::string::npos)
      expected.replace(at, 8, "two. One");
    else
      expected.replace(expected.find("One two"), 7, "two One");
    EXPECT_EQ(translated(parse_srt(kFirst + text), reversed), kFirst + expected);
  }
}

TEST(Srt, ATextWithoutBlanksIsDividedBetweenItsCharacters) {
  const auto chinese = [](std::string_view) {
    return AlignedText{.text = "\u8FD9\u662F\uFF0C\u4E66\u3002"};
  };
  const std::string srt = kFirst + "one two three" + kSecond + "four.";
  EXPECT_EQ(translated(parse_srt(srt), chinese),
            kFirst + "\u8FD9\u662F\uFF0C" + kSecond + "\u4E66\u3002");
}

TEST(Srt, AWordOfOtherScriptsIsNotDivided) {
  const auto one_word = [](std::string_view) { return AlignedText{.text = "\u00E9\u00E9\u00E9"}; };
  EXPECT_EQ(translated(parse_srt(kFirst + "one two" + kSecond + "three."), one_word),
            kFirst + "\u00E9\u00E9\u00E9" + kSecond);
}

TEST(Srt, ANumberInFrontOfATimeIsNoText) {
  const std::string srt =
      "1\n00:00:01,000 --> 00:00:02,500\nOne two.\n2\n00:00:03,000 --> "
      "00:00:04,000\nThree four.\n";
  EXPECT_EQ(texts_of(srt), (std::vector<std::string>{"One two.", "Three four."}));
  EXPECT_EQ(texts_of(kFirst + "The year\n\n1984\n\n3\n00:00:05,000 --> 00:00:06,000\nends."),
            (std::vector<std::string>{"The year 1984 ends."}));
}

TEST(Srt, TextBehindABlankLineBelongsToItsCaption) {
  EXPECT_EQ(texts_of(kFirst + "One two.\n\nThree --> four."),
            (std::vector<std::string>{"One two.", "Three --> four."}));
}

TEST(Srt, AFileWithoutTimesIsRefused) {
  EXPECT_THROW(parse_srt("one two\n"), Error);
  EXPECT_EQ(translated(parse_srt("\n"), reversed), "\n");
  EXPECT_EQ(translated(parse_srt(kFirst + "\u266A \u266A"), reversed), kFirst + "\u266A \u266A");
}

TEST(Srt, ManyLinesWithoutStopsAreNotOneSentence) {
  std::string lyrics = kFirst;
  for (int i = 0; i < 30; ++i) lyrics += "la la\n";
  EXPECT_EQ(texts_of(lyrics).size(), 4u);
}

}  // namespace
}  // namespace dragoman
