#include "evaluation/words.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(Words, WordsAreSplitAtUnicodeWhiteSpaceAsPythonDoes) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(split_words(" a\u2003b\x1C"
                        "c\u200Bd "),
            (Words{"a", "b", "c\u200Bd"}));
  EXPECT_EQ(split_words(" \u3000\n"), Words{});
  EXPECT_EQ(strip_right("\ta b\u00A0\r\n "), "\ta b");
  EXPECT_EQ(strip_right("\u3000"), "");
}

TEST(Words, LinesOfAFileHaveNoWhiteSpaceAtTheirEnds) {
  EXPECT_EQ(stripped_lines({"a b \t", "\u3000", "", " c\u00A0\r"}),
            (std::vector<std::string>{"a b", "", "", " c"}));
}

}  // namespace
}  // namespace dragoman
