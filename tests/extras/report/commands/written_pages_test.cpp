#include "extras/report/commands/written_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extras/report/html_page.h"
#include "tests/app/commands/output_folder.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

using PageOutput = OutputFolder;

TEST_F(PageOutput, APageReplacesOnlyAPageOfThisProgram) {
  const auto said = [this](const std::string& name) {
    return refusal([&] { check_page_output("--html", path(name), {}); });
  };
  EXPECT_THAT(refusal([] { check_page_output("--html", "-", {}); }), HasSubstr("--html: - "));
  write("page", to_html({.title = "x", .style = "", .body = "", .script = ""}));
  write("foreign", "<!doctype html>\n<html>");
  write("text", "a translation\n");
  write("empty", "");
  EXPECT_EQ(said("page"), "accepted");
  EXPECT_EQ(said("new"), "accepted");
  EXPECT_THAT(said("foreign"), Names("foreign ... page"));
  EXPECT_THAT(said("text"), Names("text ... page"));
  EXPECT_EQ(said("empty"), "accepted");
  EXPECT_THAT(refusal([&] { check_page_output("--html", path("page"), {path("page")}); }),
              Names("file that is read"));
}

}  // namespace
}  // namespace dragoman
