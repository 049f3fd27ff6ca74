#include "extras/report/html.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace dragoman
