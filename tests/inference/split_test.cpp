#include "inference/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/utf8.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

/// A word has a piece for every four bytes, and one for the rest.
std::int64_t count_pieces(std::string_view text) {
  std::int64_t pieces = 0, length = 0;
  for (const char c : text) {
    length = c == ' ' ? 0 : length + 1;
    if (length % 4 == 1) ++pieces;
  }
  return pieces;
}

std::vector<TokenId> encode(std::string_view text) {
  return std::vector<TokenId>(static_cast<std::size_t>(count_pieces(text)));
}

std::vector<LinePart> split_long(std::string_view line, std::int64_t most) {
  return split_line(line, SentenceCuts::InLongLines, most, encode);
}

std::vector<std::string> texts(const std::vector<LinePart>& parts) {
  std::vector<std::string> result;
  for (const LinePart& part : parts) result.emplace_back(part.text);
  return result;
}

std::vector<std::string> texts(std::string_view line, std::int64_t most) {
  return texts(split_long(line, most));
}

std::string rejoined(const std::vector<LinePart>& parts) {
  std::string line;
  for (const LinePart& part : parts) line.append(part.text).append(part.separator);
  return line;
}

TEST(Split, AShortLineStaysWhole) {
  EXPECT_THAT(texts("Yes. No. Maybe.", 8), ElementsAre("Yes. No. Maybe."));
}

TEST(Split, ALongLineIsSplitAtSentenceEnds) {
  EXPECT_THAT(texts("He came. \"Did he?\" She left!  So what", 8),
              ElementsAre("He came.", "\"Did he?\"", "She left!", "So what"));
  EXPECT_THAT(texts("你好。我是学生。", 4), ElementsAre("你好。", "我是学生。"));
}

TEST(Split, AShortLineIsSplitAtSentenceEndsIfAllLinesAre) {
  const auto parts = split_line("Yes. No.  \"Maybe?\" Now", SentenceCuts::InAllLines, 8, encode);
  EXPECT_THAT(texts(parts), ElementsAre("Yes.", "No.", "\"Maybe?\"", "Now"));
  EXPECT_EQ(parts[1].separator, "  ");
  EXPECT_EQ(rejoined(parts), "Yes. No.  \"Maybe?\" Now");
}

TEST(Split, ATermIsNotSplit) {
  const std::string_view line = "Yahoo! Inc. is old. She left.";
  const auto split = [&](const std::vector<ByteRange>& whole) {
    return split_line(line, SentenceCuts::InAllLines, 100, encode, whole);
  };
  EXPECT_THAT(texts(split({})), ElementsAre("Yahoo!", "Inc. is old.", "She left."));
  EXPECT_THAT(texts(split({{0, 11}})), ElementsAre("Yahoo! Inc. is old.", "She left."));
  EXPECT_THAT(texts(split({{0, 6}, {7, 11}})), texts(split({})));
  EXPECT_THAT(texts(split({{0, 11}, {16, 24}})), ElementsAre(line));
  EXPECT_EQ(rejoined(split({{0, 11}})), line);
}

TEST(Split, EachPartHasItsTokens) {
  for (const LinePart& part : split_long("He came quickly. \"Did he?\" She left!  So what", 4))
    EXPECT_EQ(part.tokens, encode(part.text));
}

TEST(Split, FullStopsWithinSentencesAreNotTheirEnds) {
  EXPECT_THAT(
      texts("On the 3. May Dr. Smith and J. Doe paid 3.50 e.g. for tea. They left.", 16),
      ElementsAre("On the 3. May Dr. Smith and J. Doe paid 3.50 e.g. for tea.", "They left."));
}

TEST(Split, ALongSentenceIsSplitAtTheClauseNearestToItsMiddle) {
  EXPECT_THAT(texts("a, b c d e, f g h i j", 6), ElementsAre("a, b c d e,", "f g h i j"));
}

TEST(Split, ALineWithoutClausesIsSplitBetweenWordsAndOneWithoutWordsBetweenCharacters) {
  EXPECT_THAT(texts("a b c d e f", 3), ElementsAre("a b c", "d e f"));
  EXPECT_THAT(texts("abcdefghijkl", 2), ElementsAre("abcdef", "ghijkl"));
  // e + combining acute accent stays whole.
  EXPECT_THAT(texts("aaae\u0301aaa", 1),
              testing::Each(testing::Not(testing::StartsWith("\u0301"))));
}

TEST(Split, PartsLoseNoCharacterAndKeepToTheLimit) {
  const std::vector<std::string> pieces = {
      "a",  "Word", "sentence.", "End!", ",",      " ",      "  ",      "\t",       "。",
      "你", "語",   "\u0301",    "😀",   "\u200D", "3.",     "(",       ")",        "\"",
      "\"", "»",    ";",         "?",    "\u3000", "\u00A0", "ภาษาไทย", "кириллица"};
  RandomStream random(3);
  for (int trial = 0; trial < 300; ++trial) {
    std::string text;
    const std::uint64_t count = random.below(80);
    for (std::uint64_t i = 0; i < count; ++i) text += random.choice(pieces);
    const std::string_view line = strip(text);
    if (line.empty()) continue;
    const auto most = static_cast<std::int64_t>(1 + random.below(12));
    const auto cuts = random.chance(0.5) ? SentenceCuts::InAllLines : SentenceCuts::InLongLines;
    const std::vector<LinePart> parts = split_line(line, cuts, most, encode);
    EXPECT_EQ(rejoined(parts), line);
    for (const LinePart& part : parts) {
      EXPECT_FALSE(part.text.empty());
      EXPECT_EQ(strip(part.text), part.text);
      EXPECT_TRUE(strip(part.separator).empty());
      EXPECT_TRUE(count_pieces(part.text) <= most || code_points(part.text).size() == 1);
    }
  }
}

TEST(Split, HostileLinesTakeNoTime) {
  const std::size_t size = 200'000;
  for (const std::string unit : {"a", "\"", "。", ")", ".", "\u0301", "x ", ". "}) {
    std::string line = "a";
    while (line.size() < size) line += unit;
    line += "b";
    const std::vector<LinePart> parts = split_long(line, 100);
    EXPECT_EQ(rejoined(parts), line);
    EXPECT_GT(parts.size(), 1u);
  }
}

TEST(Split, ALongLineIsEncodedAFewTimesAtMost) {
  for (const std::string unit : {"a", "😀", "\u0301", "x ", "Some words, "}) {
    std::string line = "a";
    while (line.size() < 200'000) line += unit;
    line += "b";
    std::size_t encoded = 0;
    const auto counted = [&](std::string_view text) {
      encoded += text.size();
      return encode(text);
    };
    split_line(line, SentenceCuts::InLongLines, 100, counted);
    EXPECT_LT(encoded, 7 * line.size()) << unit;
  }
}

std::string joined(std::string_view first, std::string_view source_before,
                   std::string_view separator, std::string_view second) {
  std::string text(first);
  append_part(text, {.text = source_before, .separator = separator}, second);
  return text;
}

TEST(Split, SentencesWithoutWhiteSpaceGetABlankInOtherScripts) {
  for (const std::string_view line : {"他走了!她哭了。", "नमस्ते।आप कैसे हैं।"}) {
    const auto parts = split_line(line, SentenceCuts::InAllLines, 100, encode);
    ASSERT_EQ(parts.size(), 2u) << line;
    std::string text = "Er ging.";
    append_part(text, parts[0], "Sie weinte.");
    EXPECT_EQ(text, "Er ging. Sie weinte.");
  }
  const auto halves = split_line("abcdefgh", SentenceCuts::InLongLines, 4, encode);
  std::string text = "ab";
  append_part(text, halves[0], "cd");
  EXPECT_EQ(text, "abcd") << "no sentence ends here";
}

TEST(Split, PartsAreJoinedAsTheirScriptsAreWritten) {
  EXPECT_EQ(joined("Ja.", "Yes.", " ", "Nein."), "Ja. Nein.");
  EXPECT_EQ(joined("Ja.", "Yes.", "  ", "Nein."), "Ja.  Nein.");
  EXPECT_EQ(joined("Ja.", "Yes.", "\r\n\v", "Nein."), "Ja. Nein.");
  EXPECT_EQ(joined("Ja.", "Yes.", "\u3000", "Nein."), "Ja. Nein.");
  EXPECT_EQ(joined("Oui.", "Yes.", "\u00A0", "Non."), "Oui.\u00A0Non.");
  EXPECT_EQ(joined("是。", "はい。", "\u3000", "不是。"), "是。\u3000不是。");
  EXPECT_EQ(joined("http://a", "http://a", "", "bcd"), "http://abcd");
  EXPECT_EQ(joined("Ja.", "是。", "", "Nein."), "Ja. Nein.");
  EXPECT_EQ(joined("„Ja.“", "“是。”", "", "Nein."), "„Ja.“ Nein.");
  EXPECT_EQ(joined("是。", "Yes.", " ", "不是。"), "是。不是。");
  EXPECT_EQ(joined("“是。”", "\"Yes.\"", " ", "“不是。”"), "“是。”“不是。”");
  EXPECT_EQ(joined("", "Yes.", " ", "Nein."), "Nein.");
  EXPECT_EQ(joined("Ja.", "Yes.", " ", ""), "Ja.");
}

}  // namespace
}  // namespace dragoman
