#include "base/formatted_text.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman {
namespace {

TEST(Joined, AnyItemsAreJoinedAsTexts) {
  EXPECT_EQ(joined(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(joined(std::vector<std::string_view>{"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(joined(std::vector<int>{1, 2}, "-", [](int n) { return std::to_string(n); }), "1-2");
}

TEST(IsAmong, ATextIsAmongTextsIfItEqualsOne) {
  EXPECT_TRUE(is_among("b", {"a", "b"}));
  EXPECT_FALSE(is_among("", {"a", "b"}));
}

TEST(SplitAt, ATextIsCutAtEachSeparator) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_at("a,,b c,", ','), (Parts{"a", "", "b c", ""}));
  EXPECT_EQ(split_at("a", ','), (Parts{"a"}));
  EXPECT_EQ(split_at("", ','), (Parts{""}));
}

TEST(ReplaceAll, EachTextFromTheLeftIsReplaced) {
  const auto replaced = [](std::string text, std::string_view from, std::string_view to) {
    replace_all(text, from, to);
    return text;
  };
  EXPECT_EQ(replaced("aaa b aa", "aa", "aaa"), "aaaa b aaa");
  EXPECT_EQ(replaced("]<]>", "]", ""), "<>");
}

TEST(Amounts, ThousandsAreSeparated) {
  EXPECT_EQ(with_separators(0), "0");
  EXPECT_EQ(with_separators(999), "999");
  EXPECT_EQ(with_separators(-1000), "-1,000");
  EXPECT_EQ(with_separators(63'082'496), "63,082,496");
}

TEST(Amounts, CountedThingsAreInTheSingularOrThePlural) {
  EXPECT_EQ(counted(1, "line"), "1 line");
  EXPECT_EQ(counted(0, "line"), "0 lines");
  EXPECT_EQ(counted(12'345, "line"), "12,345 lines");
  EXPECT_EQ(counted(1, "matrix", "matrices"), "1 matrix");
  EXPECT_EQ(counted(2, "matrix", "matrices"), "2 matrices");
}

TEST(Amounts, BytesAreWrittenInTheUnitThatKeepsThemShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1500), "1.5 KB");
  EXPECT_EQ(bytes_text(9'960'000), "10 MB");
  EXPECT_EQ(bytes_text(999'600'000), "1.0 GB");
  EXPECT_EQ(bytes_text(640'000'000'000'000), "640 TB");
}

TEST(Amounts, ThereAreAsManyDecimalsAsAskedFor) {
  EXPECT_EQ(fixed_text(38.2, 2), "38.20");
  EXPECT_EQ(fixed_text(-0.25, 1), "-0.2");
  EXPECT_EQ(fixed_text(2.5, 0), "2");
  EXPECT_EQ(fixed_text(1e-9, 3), "0.000");
  EXPECT_EQ(fixed_text(-std::numeric_limits<double>::max(), 4).size(), 315u);
}

TEST(Amounts, ADurationHasTheUnitsThatItsLengthNeeds) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(58.2), "0:59");
  EXPECT_EQ(duration_text(754), "12:34");
  EXPECT_EQ(duration_text(11554), "3:12:34");
  EXPECT_EQ(duration_text(184'320), "2d 03:12");
  EXPECT_EQ(duration_text(1e300), "long");
}

TEST(Joined, TheFirstOfManyLinesAreListed) {
  const std::int64_t lines[] = {7, 9, 12};
  EXPECT_EQ(lines_text(std::span(lines).first(1), 1), "line 7");
  EXPECT_EQ(lines_text(lines, 3), "lines 7, 9, 12");
  EXPECT_EQ(lines_text(lines, 4), "lines 7, 9, 12, ...");
}

TEST(ShellWord, AWordIsQuotedIfAShellWouldChangeIt) {
  EXPECT_EQ(shell_word("run/model.safetensors"), "run/model.safetensors");
  EXPECT_EQ(shell_word("--beam-size=5"), "--beam-size=5");
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("$(x) *"), "'$(x) *'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("für"), "'für'");
}

TEST(HtmlText, AReferenceTakesThePlaceOfEachSign) {
  EXPECT_EQ(with_references("\xFF<b & \"c\" > 'd' {", "&<>\"'{"),
            "\xFF&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39; &#123;");
  EXPECT_EQ(with_references("<&>", "&"), "<&amp;>");
  EXPECT_EQ(escaped("\xFF<'\">&{"), "\uFFFD&lt;'&quot;&gt;&amp;{");
}

TEST(HtmlText, ValuesTakeThePlacesOfTheirNames) {
  EXPECT_EQ(filled("<p>{{a}}</p>{{b}}{{a}}", {{"a", "x"}, {"b", "{{a}}"}}), "<p>x</p>{{a}}x");
  EXPECT_EQ(filled("none", {}), "none");
  EXPECT_THROW(filled("{{a}}", {}), std::logic_error);
  EXPECT_THROW(filled("{{a", {{"a", "x"}}), std::logic_error);
}

}  // namespace
}  // namespace dragoman
