#include "extras/report/translation_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

/// The block that the page's script reads.
std::string data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(open) + open.size();
  return html.substr(begin, html.find("</script>", begin) - begin);
}

TEST(EvaluationPage, TextsAreOneBlockOfJsonThatNoTextEnds) {
  const Json data = {{"source", {"</script><script>alert(1)</script>", "<!-- {{title}} ä"}},
                     {"translations", {{"\"&", "\\"}}}};
  const std::string html = evaluation_page("A < B", {}, data);
  EXPECT_EQ(parse_json<Json>(data_of(html)), data);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("<!-- {{title}}")));
  EXPECT_THAT(html, HasSubstr("<title>A &lt; B</title>"));
}

TEST(EvaluationPage, ATextThatIsNotUtf8IsStillShown) {
  EXPECT_THAT(data_of(evaluation_page("", {}, {{"systems", {"a\xff"}}})),
              HasSubstr("a\xEF\xBF\xBD"));
}

TEST(EvaluationPage, ThePageFetchesNothing) {
  const std::string html = evaluation_page("", {}, Json::object());
  for (const char* reference : {" src=", " href=", "url(", "@import", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  EXPECT_THAT(html, Not(HasSubstr("{{")));
}

TEST(EvaluationPage, TheCurvesOfARunAreShown) {
  PageChart chart;
  chart.title = "BLEU <by> updates";
  chart.chart.x = {.name = "by-updates", .title = "updates", .high = 9};
  chart.chart.curves = {{.run = 0, .points = {{1, 2}, {9, 3}}}};
  const std::string html = evaluation_page("", {chart, chart}, Json::object());
  EXPECT_THAT(html, HasSubstr("<figcaption>BLEU &lt;by&gt; updates</figcaption>\n<svg"));
  EXPECT_THAT(evaluation_page("", {}, Json::object()), Not(HasSubstr("By updates")));
}

TEST(ExplanationPage, NoTextEndsTheBlockOfJson) {
  const Json explanation = {{"source", "</script><script>alert(1)</script> <!-- {{title}} ä"}};
  const std::string html = explanation_page(json_text(explanation));
  EXPECT_EQ(parse_json<Json>(data_of(html)), explanation);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(html, Not(HasSubstr("<!-- {{title}}")));
}

TEST(ExplanationPage, ThePageFetchesNothing) {
  const std::string html = explanation_page("{}");
  for (const char* reference : {" src=", " href=", "url(", "@import", "fetch(", "XMLHttpRequest"})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
  EXPECT_THAT(html, Not(HasSubstr("{{")));
}

TEST(ExplanationPage, TextIsNeverReadAsHtml) {
  const std::string html = explanation_page("{}");
  for (const char* call : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write"})
    EXPECT_THAT(html, Not(HasSubstr(call)));
}

}  // namespace

}  // namespace dragoman
