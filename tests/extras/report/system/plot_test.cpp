// dragoman plot makes a page of run folders or logs, also of a training, and names the fault if it
// cannot.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"
#include "tests/system/translate_fixture.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;
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
  EXPECT_THAT(result.errors, Names("cut/log.jsonl ... 1 damaged line"));
}

TEST_F(Plot, RunsThatHaveDataAreDrawnAndTheOthersWarnedAbout) {
  const std::string begun = folder_with("begun", "log.jsonl", "");
  std::filesystem::create_directories(folder_ / "empty");
  const std::string drawn = folder_with("a", "log.jsonl", lines_);
  const auto result = run({"plot", begun, folder_ / "empty", drawn, "-o", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Names(begun + "/log.jsonl ... no update"));
  EXPECT_THAT(result.errors, Names("empty ... log.jsonl"));
  EXPECT_EQ(result.output, run({"plot", drawn, "-o", "-"}).output);
}

TEST_F(Plot, ThePageReplacesNoFileButAPage) {
  const std::string log = folder_with("a", "log.jsonl", lines_) + "/log.jsonl";
  expect_failure(run({"plot", log, "-o", log}), 2, "page of this program");
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
  fails({"plot", folder_ / "nowhere", "-o", "-"}, 1, "nowhere: cannot read: No such file");
  fails({"plot", folder_with("begun", "log.jsonl", ""), "-o", "-"}, 1, "has no update yet");
  fails({"plot", folder_with("t", "t.en", "a cat\nsat\n") + "/t.en", "-o", "-"}, 1,
        "t.en: is not the log of a training run");
  fails({"plot", "-o", "-"}, 2, "--runs");
  fails({"plot", folder_with("a", "log.jsonl", lines_)}, 2, "--output");
}

/// A run with a model, whose log has the attention to a sentence.
class PlotExplain : public Translate {
 protected:
  PlotExplain() {
    write_file(folder_ / "log.jsonl",
               "{\"type\":\"update\",\"update\":10,\"loss\":5.5}\n"
               "{\"type\":\"validation\",\"update\":10,\"attention\":{\"source\":[\"\u2581the\","
               "\"\u2581c\",\"at\",\"</s>\"],\"target\":[\"\u2581the\",\"\u2581mat\"],\"weights\":"
               "[[0.25,0.25,0.25,0.25],[0.25,0.25,0.25,0.25]]}}\n");
  }

  auto plot() const { return run({"plot", folder_.path(), "-o", page_}); }

  const std::string page_ = folder_ / "page.html";
  const std::filesystem::path explanation_ = folder_ / "page.explanations/1-1.html";
};

TEST_F(PlotExplain, APageAboutTheSentenceIsWrittenAndLinked) {
  const auto result = plot();
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(read_file(page_), HasSubstr("<a href=\"page.explanations/1-1.html\">"));
  const std::string html = read_file(explanation_);
  EXPECT_THAT(html, StartsWith("<!doctype html>"));
  EXPECT_THAT(html, HasSubstr("\"source\":\"the cat\",\"target\":\"the mat\",\"given\":true"));
  EXPECT_THAT(result.errors, Names("page.html ... 1 run ... 1 page"));
}

TEST_F(PlotExplain, ARunWithoutAModelHasNoLink) {
  ASSERT_EQ(plot().exit_code, 0);
  std::filesystem::remove(folder_ / "model.safetensors");
  ASSERT_EQ(plot().exit_code, 0);
  EXPECT_THAT(read_file(page_), Not(HasSubstr("<a href")));
  EXPECT_FALSE(std::filesystem::exists(explanation_)) << "from an earlier call";
}

TEST_F(PlotExplain, AModelThatCannotBeReadIsNamed) {
  write_file(folder_ / "model.safetensors", "no model");
  const auto result = plot();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, Names("not explained"));
  EXPECT_THAT(read_file(page_), Not(HasSubstr("<a href")));
}

TEST_F(PlotExplain, APageOnStandardOutputHasNoLink) {
  EXPECT_THAT(run({"plot", folder_.path(), "-o", "-"}).output, Not(HasSubstr("<a href")));
}

using PlotTraining = Train;

TEST_F(PlotTraining, TheCommandThatPlotsTheRunIsNamedAndWorks) {
  const auto trained = train(command("watched", {"--max-updates", "20"}));
  EXPECT_THAT(trained.errors, HasSubstr("dragoman plot " + path("watched") + " -o"));
  const auto page = run({"plot", path("watched"), "-o", "-"});
  EXPECT_EQ(page.exit_code, 0) << page.errors;
  EXPECT_EQ(page.errors, "");
  const std::string source = read_file(sample("valid.en"));
  EXPECT_THAT(trained.errors, HasSubstr("sample 1: \"" + source.substr(0, source.find('\n')) + '"'))
      << "the text of the sample, so that its translation can be judged";
  for (const char* part : {"by-time", "BLEU of the validation text", "Sample translations",
                           "Parameters", "warmup-updates"})
    EXPECT_THAT(page.output, HasSubstr(part));
}

}  // namespace

}  // namespace dragoman
