#include "extras/report/html_page.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dragoman {

namespace {

TEST(Html, TextIsShownAsText) {
  EXPECT_EQ(escaped("<b title=\"x\">R&D</b>"), "&lt;b title=&quot;x&quot;&gt;R&amp;D&lt;/b&gt;");
  EXPECT_EQ(escaped("a\xff\xc3\xa4"), "a\xef\xbf\xbd\xc3\xa4");
}

TEST(Html, APageIsWholeAndMayFetchNothing) {
  const std::string page = to_html({.title = "a<b", .style = "s{}", .body = "<p>", .script = ""});
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("<title>a&lt;b</title>"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_NE(page.find("name=\"viewport\""), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
}

TEST(PageFiles, AFileIsFilledOnceSoThatANameInAValueStaysText) {
  EXPECT_EQ(filled_page_file("figure.html", {{"title", "{{drawing}}"}, {"drawing", "{{x"}}),
            "<figure><figcaption>{{drawing}}</figcaption>\n{{x\n</figure>\n");
}

TEST(PageFiles, AFileOrAValueThatIsMissingIsOurDefect) {
  EXPECT_THROW(page_file("none.html"), std::logic_error);
  EXPECT_THROW(filled_page_file("figure.html", {{"title", ""}}), std::logic_error);
}

using Names = std::vector<std::string>;

TEST(ShortNames, WordsThatAllNamesHaveInCommonAreLeftOut) {
  EXPECT_EQ(short_names({"out/test.old.de", "out/test.new.de"}), (Names{"old", "new"}));
  EXPECT_EQ(short_names({"wmt/news2017.KIT.4950.en-de", "wmt/news2017.online-A.0.en-de"}),
            (Names{"KIT.4950", "online-A.0"}));
  EXPECT_EQ(short_names({"run/update-100.safetensors", "run/update-200.safetensors"}),
            (Names{"update-100", "update-200"}));
  EXPECT_EQ(short_names({"a/model/", "b/model/"}), (Names{"a", "b"}));
  EXPECT_EQ(short_names({"out/test.de"}), Names{"test"});
  EXPECT_EQ(short_names({"run/"}), Names{"run"});
}

TEST(ShortNames, WordsAndDecimalNumbersStayWhole) {
  const Names searches = {"beam 4, length penalty 0.6", "beam 4, length penalty 0.8"};
  EXPECT_EQ(short_names(searches), searches);
  EXPECT_EQ(short_names({"translated", "trained"}), (Names{"translated", "trained"}));
}

TEST(ShortNames, NamesAreNeverEmptyAndStayDifferent) {
  EXPECT_EQ(short_names({"a/", "a/b"}), (Names{"a/", "a/b"}));
  EXPECT_EQ(short_names({"/", "."}), (Names{"/", "."}));
  EXPECT_EQ(short_names({".x", "y.x"}), (Names{".x", "y.x"}));
  EXPECT_EQ(short_names({"a.b", "a.a.b"}), (Names{"b", "a.b"}));
  EXPECT_EQ(short_names({"-"}), Names{"-"});
  EXPECT_EQ(short_names({"/"}), Names{"/"});
}

}  // namespace

}  // namespace dragoman
