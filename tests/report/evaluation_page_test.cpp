#include "report/evaluation_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

EvaluationPage two_systems() {
  return {.title = "Evaluation",
          .systems = {"a<b", "c"},
          .charts = {},
          .tables = {{.title = "Scores", .note = "n", .rows = {{"System", "X"}, {"a<b", "1.5"}}}},
          .sentence_metric = "chrF2",
          .sentences = {{.line = 1,
                         .source = "ein & zwei",
                         .references = {"one & two", "one and two"},
                         .translations = {"one and three", ""},
                         .scores = {70.25, 0}}}};
}

TEST(EvaluationPage, ShowsTextAsTextAndMarksWordsThatTheNearestReferenceLacks) {
  const std::string html = to_html(two_systems());
  EXPECT_THAT(html, HasSubstr("<td>a&lt;b</td><td>1.5</td>"));
  EXPECT_THAT(html, HasSubstr("ein &amp; zwei"));
  EXPECT_THAT(html, HasSubstr("one and <mark>three</mark>"));
  EXPECT_THAT(html, HasSubstr("<i>nothing</i>"));
  EXPECT_THAT(html, HasSubstr("data-scores=\"70.2 0.0\""));
  EXPECT_THAT(html, HasSubstr("a&lt;b better"));
  EXPECT_THAT(html, Not(HasSubstr("a<b")));
}

TEST(EvaluationPage, OfOneSystemComparesNothing) {
  EvaluationPage page = two_systems();
  page.systems.pop_back();
  page.lower_is_better = true;
  page.sentences.front().translations.pop_back();
  page.sentences.front().scores.pop_back();
  const std::string html = to_html(page);
  EXPECT_THAT(html, Not(HasSubstr(" better</button>")));
  EXPECT_THAT(html, HasSubstr("data-lower=\"yes\""));
}

}  // namespace
}  // namespace dragoman
