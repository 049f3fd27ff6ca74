#include "base/quoted_text.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

using std::string_literals::operator""s;

TEST(QuotedText, EscapesMeanWhatTheyMeanInC) {
  std::string_view rest = R"("a\tb\n\"c\\ \101\x41\x1042\q"  "more")";
  EXPECT_EQ(take_quoted(rest), "a\tb\n\"c\\ AABq"s);
  EXPECT_EQ(rest, "  \"more\"");
}

TEST(QuotedText, AStringWithoutItsSecondQuoteStays) {
  for (const std::string text : {"\"open", "\"open\n\"", "\"open\\\"", "\""}) {
    std::string_view rest = text;
    EXPECT_EQ(take_quoted(rest), std::nullopt) << text;
    EXPECT_EQ(rest, text);
  }
}

TEST(PoHeader, AFieldIsFoundByItsWholeName) {
  const std::string header = "Language-Team: x\nLanguage:  de \nX: a:b\r\nEmpty:";
  EXPECT_EQ(po_header_field(header, "Language"), "de");
  EXPECT_EQ(po_header_field(header, "X"), "a:b");
  for (const char* name : {"Empty", "Lang", "Team"}) EXPECT_EQ(po_header_field(header, name), "");
}

}  // namespace
}  // namespace dragoman
