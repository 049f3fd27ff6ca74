#include "extras/explanation/word_starts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dragoman {
namespace {

/// The words that the pieces make, with a bar between them.
std::string words_of(const std::vector<std::string>& pieces) {
  std::string text;
  WordStarts starts;
  for (const std::string& piece : pieces) text += (starts.next(piece) ? "|" : "") + piece;
  return text;
}

TEST(WordStarts, AWordBeginsAtASpace) {
  EXPECT_EQ(words_of({"▁The", "▁teach", "er", "."}), "|▁The|▁teacher.");
  EXPECT_EQ(words_of({"▁", "The", "▁", "cat"}), "|▁The|▁cat");
}

TEST(WordStarts, APieceWithoutSpacesIsAWord) {
  EXPECT_EQ(words_of({"▁", "私", "は", "先生", "です", "。"}), "|▁私|は|先生|です|。");
  EXPECT_EQ(words_of({"▁我们", "不", "知道"}), "|▁我们|不|知道");
  EXPECT_EQ(words_of({"▁ฉัน", "ไม่", "รู้"}), "|▁ฉัน|ไม่|รู้");
  EXPECT_EQ(words_of({"▁ร", "ู้"}), "|▁รู้") << "a vowel belongs to its letter";
}

TEST(WordStarts, TheBytesOfACharacterStayTogether) {
  EXPECT_EQ(words_of({"▁", "<0xE5>", "<0x85>", "<0x88>", "<0xE7>", "<0x94>", "<0x9F>", "two"}),
            "|▁<0xE5><0x85><0x88>|<0xE7><0x94><0x9F>|two");
  EXPECT_EQ(words_of({"▁na", "<0xC3>", "<0xAF>", "ve", "▁<0x"}), "|▁na<0xC3><0xAF>ve|▁<0x");
}

TEST(WordStarts, ScriptsMayStandSideBySide) {
  EXPECT_EQ(words_of({"▁", "DV", "D", "を", "2", "枚", "▁", "買"}), "|▁DVD|を|2|枚|▁買");
  EXPECT_EQ(words_of({"▁저는", "▁학", "생", "입니다"}), "|▁저는|▁학생입니다")
      << "Korean has spaces";
}

}  // namespace
}  // namespace dragoman
