// dragoman plot makes a page of run folders or logs, and names the fault where it cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Plot : public testing::Test {
 protected:
  std::string folder_with(const std::string& name, const std::string& file,
                          const std::string& text) {
    std::filesystem::create_directories(folder_ / name);
    write_file(folder_ / (name + "/" + file), text);
    return (folder_ / name).string();
  }

  TemporaryFolder folder_;
  const std::string lines_ =
      "{\"type\":\"update\",\"update\":10,\"loss\":5.5,\"target_tokens\":900,\"elapsed\":3}\n"
      "{\"type\":\"update\",\"update\":20,\"loss\":4.5,\"target_tokens\":1800,\"elapsed\":6}\n";
};

TEST_F(Plot, FoldersAndLogsBecomeAPage) {
  const std::string start =
      "{\"type\":\"start\",\"parameters\":1,\"processor\":\"p\",\"precision\":\"fp32\","
      "\"settings\":{\"lr\":\"0.5\",\"train-src\":\"x.en,y.en\"}}\n";
  const std::string first = folder_with("a", "log.jsonl", start + lines_);
  const std::string second = folder_with("b", "log.jsonl", lines_) + "/log.jsonl";
  const std::string page = folder_ / "page.html";
  const auto result = run({"plot", first + "/", second, "-o", page});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  const std::string html = read_file(page);
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("class=\"run-1\""));
  EXPECT_THAT(html, HasSubstr("x.en,y.en"));
  const auto written = run({"plot", first + "/", second, "-o", "-"});
  EXPECT_EQ(written.output, html);
  EXPECT_EQ(written.errors, "");
}

TEST_F(Plot, DamagedLinesArePassedOverAndCounted) {
  const std::string name = folder_with("cut", "log.jsonl", lines_ + "{\"type\":\"upd");
  const auto result = run({"plot", name, "-o", "-"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("cut/log.jsonl: 1 damaged line skipped"));
}

TEST_F(Plot, RunsThatHaveDataAreDrawnAndTheOthersWarnedOf) {
  const std::string begun = folder_with("begun", "log.jsonl", "");
  std::filesystem::create_directories(folder_ / "empty");
  const std::string drawn = folder_with("a", "log.jsonl", lines_);
  const auto result = run({"plot", begun, folder_ / "empty", drawn, "-o", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("left out: " + begun + "/log.jsonl: has no update"));
  EXPECT_THAT(result.errors, HasSubstr("empty: there is no log.jsonl"));
  EXPECT_EQ(result.output, run({"plot", drawn, "-o", "-"}).output);
}

TEST_F(Plot, ThePageReplacesNoFileButAPage) {
  const std::string log = folder_with("a", "log.jsonl", lines_) + "/log.jsonl";
  const auto result = run({"plot", log, "-o", log});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("is not a page, and a page replaces only a page"));
  EXPECT_EQ(read_file(log), lines_);
  const std::string page = folder_ / "page.html";
  EXPECT_EQ(run({"plot", log, "-o", page}).exit_code, 0);
  EXPECT_EQ(run({"plot", log, "-o", page}).exit_code, 0);
}

TEST_F(Plot, AnErrorNamesTheWrongFlagOrFile) {
  const auto fails = [](const std::vector<std::string>& words, int exit_code,
                        const std::string& text) {
    const auto result = run(words);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.output, "");
    EXPECT_THAT(result.errors, HasSubstr(text));
  };
  std::filesystem::create_directories(folder_ / "empty");
  fails({"plot", folder_ / "empty", "-o", "-"}, 1, "empty: there is no log.jsonl");
  fails({"plot", folder_ / "nowhere", "-o", "-"}, 1, "nowhere: cannot read");
  fails({"plot", folder_with("begun", "log.jsonl", ""), "-o", "-"}, 1, "has no update yet");
  fails({"plot", folder_with("t", "t.en", "a cat\nsat\n") + "/t.en", "-o", "-"}, 1,
        "t.en: is not the log of a training run");
  fails({"plot", "-o", "-"}, 2, "--runs");
  fails({"plot", folder_with("a", "log.jsonl", lines_)}, 2, "--output");
}

}  // namespace
}  // namespace dragoman
