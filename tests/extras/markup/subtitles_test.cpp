#include "extras/markup/markup_formats.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {
namespace {

std::vector<std::string> texts_of(const std::string& srt) { return texts_of(parse_srt(srt)); }

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
  EXPECT_EQ(translated(parse_srt(srt), one_word), kFirst + "eins" + kSecond);
  EXPECT_EQ(translated(parse_srt(srt), nothing), srt);
}

TEST(Srt, ALineThatLosesItsTextDoesNotEndItsCaption) {
  const auto first_word = [](std::string_view text) {
    return AlignedText{.text = std::string(text.substr(0, text.find(' ')))};
  };
  EXPECT_EQ(translated(parse_srt(kFirst + "one two\nthree four.\nfive six." + kSecond + "seven."),
                       first_word),
            kFirst + "one\nfive" + kSecond + "seven.");
  EXPECT_EQ(
      translated(parse_srt(kFirst + "one two" + kSecond + "three.\r\nfive six.\r\n"), first_word),
      kFirst + "one" + kSecond + "five\r\n");
}

TEST(Srt, SignsOfSpeakersAndOfSongsStay) {
  for (const std::string sign : {"- ", "-", "\u2013 ", "\u266A "}) {
    const std::string srt = kFirst + sign + "One two.\n" + sign + "Three four.";
    EXPECT_EQ(translated(parse_srt(srt), reversed),
              kFirst + sign + "two. One\n" + sign + "four. Three");
  }
}

TEST(Srt, SignsAreFoundAfterBlanksAndTags) {
  for (const std::string lead : {" - ", " -", "<i>- ", "<i>-", " <i> - ", "- <i>", "<i>- \u266A ",
                                 "{\\an8}- ", "{\\an8}<i>\u266B ", ">> ", "\u2010"}) {
    const std::string end = lead.find("<i>") == lead.npos ? "" : "</i>";
    const std::string line = lead + "One two." + end, turned = lead + "two. One" + end;
    EXPECT_EQ(translated(parse_srt(kFirst + line + "\n" + line), reversed),
              kFirst + turned + "\n" + turned);
    EXPECT_EQ(texts_of(kFirst + "one two\n" + line),
              (std::vector<std::string>{"one two", "One two."}));
  }
  for (const std::string trail : {" \u266A</i>", "</i> \u266A", "\u266C</i> "}) {
    EXPECT_EQ(translated(parse_srt(kFirst + "<i>one two" + trail), reversed),
              kFirst + "<i>two one" + trail);
  }
}

TEST(Srt, TagsOfJoinedLinesStayWithTheirLines) {
  const std::string lines =
      "<i>One two</i>\n<b>three</b> <i>four</i>" + kSecond + "{\\an8}<i>five.</i>";
  EXPECT_EQ(texts_of(kFirst + lines), (std::vector<std::string>{"One two three four five."}));
  EXPECT_EQ(translated(parse_srt(kFirst + lines), in_order), kFirst + lines);
  EXPECT_EQ(translated(parse_srt(kFirst + "<i>One two</i>\n<i>three four</i>"), reversed),
            kFirst + "<i>four</i>\n<i>three two One</i>");
  EXPECT_EQ(translated(parse_srt(kFirst + "<i>- One two</i>\nthree"), reversed),
            kFirst + "<i>- three</i>\ntwo One");
  // Elements that end within a line move with their words.
  EXPECT_EQ(translated(parse_srt(kFirst + "one two\n<i>three</i> four"), reversed),
            kFirst + "four\n<i>three</i> two one");
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

TEST(Srt, ANumberInFrontOfATimeIsNotText) {
  const std::string srt =
      "1\n00:00:01,000 --> 00:00:02,500\nOne two.\n2\n00:00:03,000 --> "
      "00:00:04,000\nThree four.\n";
  EXPECT_EQ(texts_of(srt), (std::vector<std::string>{"One two.", "Three four."}));
  EXPECT_EQ(texts_of(kFirst + "The year\n\n1984\n\n3\n00:00:05,000 --> 00:00:06,000\nends."),
            (std::vector<std::string>{"The year 1984 ends."}));
}

TEST(Srt, TextAfterABlankLineBelongsToItsCaption) {
  EXPECT_EQ(texts_of(kFirst + "One two.\n\nThree --> four."),
            (std::vector<std::string>{"One two.", "Three --> four."}));
}

TEST(Vtt, OnlyTheTextsOfCuesAreTranslated) {
  const std::string head =
      "WEBVTT - One two\n\nNOTE one two\nthree four\n\nSTYLE\n::cue(b) { color: red }\n\n"
      "REGION\nid:one two\n\none two\n00:01.000 --> 00:02.500 line:0 position:20%\n";
  const std::string next = "\n\nNOTE\nfive six\n\n2\n01:00:03.000 --> 01:00:04.000\n";
  EXPECT_EQ(translated(parse_vtt(head + "- one two." + next + "three four"), reversed),
            head + "- two. one" + next + "four three");
}

TEST(Vtt, ALineWithoutWordsContinuesNoSentence) {
  const std::string vtt =
      "WEBVTT\n\n00:01.000 --> 00:02.000\nA man\n&emsp;\n\n"
      "00:02.000 --> 00:03.000\nwalks.\n";
  const MarkupDocument document = parse_vtt(vtt);
  EXPECT_EQ(translated(document, in_order), vtt);
  EXPECT_EQ(document.passages.size(), 2u);
}

TEST(Vtt, TagsAndReferencesAreThoseOfWebVtt) {
  const std::string cue = "WEBVTT\n\n00:01.000 --> 00:02.500\n";
  const auto turned = [&](const std::string& text) {
    const std::string vtt = translated(parse_vtt(cue + text), reversed);
    EXPECT_EQ(vtt.substr(0, cue.size()), cue);
    return vtt.substr(std::min(vtt.size(), cue.size()));
  };
  EXPECT_EQ(turned("<v Roger Bingham>one <c.loud.red>two</c>"),
            "<v Roger Bingham><c.loud.red>two</c> one");
  EXPECT_EQ(turned("one <00:01.500>two <00:02.000>three"), "three <00:01.500><00:02.000>two one");
  EXPECT_EQ(turned("A &amp; B &lt; &eacute;&lrm;"), "\u00E9\u200E &lt; B &amp; A");
  EXPECT_EQ(turned("one --&gt; two"), "two --&gt; one");
  EXPECT_THROW(parse_vtt("1\n00:01.000 --> 00:02.500\none"), Error);
}

/// The lines with times, and whether a text stands after each.
std::vector<std::string> times_of(const std::string& file) {
  std::vector<std::string> times;
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.find('\n', begin), file.size());
    const std::string line = file.substr(begin, end - begin);
    if (line.starts_with("00:") && line.find(" --> 00:") != std::string::npos)
      times.push_back(line);
    begin = end + 1;
  }
  return times;
}

TEST(Subtitles, AnyTranslationKeepsTheirCaptions) {
  const std::string text =
      "- <i>One two</i>\n<b>three</b> four <c.x>five</c>" + kSecond +
      "six seven.\n\u266A eight nine \u266A\n\n3\n00:00:05,000 --> 00:00:06,000\nten";
  std::string cues = "WEBVTT\n\n" + kFirst + text;
  std::ranges::replace(cues, ',', '.');
  for (int i = 0; i < 1'000; ++i) {
    RandomStream random(8, i);
    const auto any = [&](std::string_view passage) {
      return adversarial_translation(passage, random);
    };
    const std::string srt = translated(parse_srt(kFirst + text), any);
    ASSERT_EQ(times_of(srt), times_of(kFirst + text)) << srt;
    const std::string vtt = translated(parse_vtt(cues), any);
    ASSERT_EQ(times_of(vtt), times_of(cues)) << vtt;
    // A blank line ends a cue: there are as many blocks as before.
    std::size_t blocks = 0, at = 0;
    for (; (at = vtt.find("\n\n", at)) != std::string::npos; at += 2) ++blocks;
    ASSERT_LE(blocks, 3u) << vtt;
    EXPECT_EQ(vtt.find("-->", vtt.rfind("00:00:05.000") + 20), std::string::npos) << vtt;
  }
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
