#include "extras/report/html_page.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
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

/// The values "#rrggbb" of a property of a style sheet, in their order.
std::vector<std::string> colors_of(const std::string& css, const std::string& property) {
  std::vector<std::string> colors;
  for (std::size_t at = 0; (at = css.find(property + ": #", at)) != std::string::npos; ++at)
    colors.push_back(css.substr(at + property.size() + 2, 7));
  return colors;
}

/// WCAG 2.2's relative luminance of "#rrggbb".
double luminance(const std::string& color) {
  constexpr std::array kWeights = {0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (std::size_t i = 0; i < kWeights.size(); ++i) {
    const double value = std::stoi(color.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    sum +=
        kWeights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double contrast(const std::string& one, const std::string& other) {
  const auto [low, high] = std::minmax({luminance(one), luminance(other)});
  return (high + 0.05) / (low + 0.05);
}

TEST(TrainingStyle, TheNamesOfRunsCanBeReadOnALightAndOnADarkPage) {
  const std::string css = training_style(6, {});
  const std::vector<std::string> pages = colors_of(css, "--page"), runs = colors_of(css, "--run");
  ASSERT_EQ(runs.size(), 12u);  // each light, then dark
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_GE(contrast(runs[i], pages.at(i % 2)), 4.5) << runs[i] << " on " << pages[i % 2];
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
