#include "extras/corpus/survey_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/json.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A report of a text with `count` shifted stretches, at lines 101 to 120, 201 to 220, ...
SurveyReport report_with_stretches(int count) {
  SurveyReport report;
  report.files = {"train.en"};
  report.pairs = 10'000;
  for (int i = 1; i <= count; ++i)
    report.stretches.push_back({.file = "train.en",
                                .first_line = 100 * i + 1,
                                .last_line = 100 * i + 20,
                                .shift = i % 2 == 0 ? 2 : -1});
  return report;
}

TEST(SurveyReport, TheTextOfAFewStretchesHasThemAllInOneParagraph) {
  const std::string text = text_of(report_with_stretches(2));
  EXPECT_THAT(text, Names("101 ... 120 ... - 1"));
  EXPECT_THAT(text, Names("201 ... 220 ... + 2"));
  EXPECT_THAT(text.substr(text.find("\n\n") + 2), Not(HasSubstr("\n\n")));
  EXPECT_THAT(text, Not(HasSubstr("more")));
}

TEST(SurveyReport, TheTextOfManyStretchesSaysHowManyItLeavesOut) {
  const std::string text = text_of(report_with_stretches(45));
  EXPECT_THAT(text, Names("45 shifted stretches"));
  EXPECT_THAT(text, Names("501 ... 520"));
  EXPECT_THAT(text, Not(Names("601")));
  EXPECT_THAT(text, Names("40 more ... --json ... --html"));
}

TEST(SurveyReport, JsonAndThePageHaveAllStretches) {
  const SurveyReport report = report_with_stretches(45);
  EXPECT_EQ(parse_json(json_of(report))["stretches"].size(), 45);
  EXPECT_THAT(page_of(report), HasSubstr("4501"));
}

TEST(SurveyReport, AnEditorCanOpenThePlacesThatAreNamed) {
  SurveyReport report = report_with_stretches(0);
  report.faults.push_back(
      {.fault = PairFault::Copy,
       .pairs = 1,
       .examples = {{.file = "c.en", .line = 3'004, .source = "a", .target = "b", .detail = ""}}});
  EXPECT_THAT(page_of(report), HasSubstr("c.en:3004<"));
  EXPECT_THAT(text_of(report), Names("line 3004"));
  report.files.push_back("c.en");
  EXPECT_THAT(text_of(report), Names("c.en:3004"));
}

TEST(SurveyReport, AShareThatIsNotAllIsNot100Percent) {
  EXPECT_EQ(share_text(2'999, 3'000), "99.9 %");
  EXPECT_EQ(share_text(999, 1'000), "99.9 %");
  EXPECT_EQ(share_text(3'000, 3'000), "100 %");
  EXPECT_EQ(share_text(1, 2), "50.0 %");
  EXPECT_EQ(share_text(1, 10'000), "0.010 %");
  EXPECT_EQ(share_text(3, 3'006), "0.1 %");
}

TEST(SurveyReport, TheTextHasTheNameThatAFileOfFiltersTakes) {
  SurveyReport report = report_with_stretches(0);
  report.faults.push_back({.fault = PairFault::Misaligned, .pairs = 7, .examples = {}});
  EXPECT_THAT(text_of(report), Names("misaligned ... not a translation"));
  EXPECT_THAT(page_of(report), HasSubstr("<code>misaligned</code>"));
}

}  // namespace
}  // namespace dragoman
