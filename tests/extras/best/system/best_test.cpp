// dragoman best, with a plan of few updates.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/bytes.h"
#include "base/files.h"
#include "base/json.h"
#include "data/parallel_text.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;

class Best : public Train {
 protected:
  static std::vector<std::string> command(const std::string& folder, const std::string& hours) {
    return {"best",
            "-o",
            path(folder),
            "--train-src",
            sample("valid.en"),
            "--train-tgt",
            sample("valid.de"),
            "--valid-src",
            sample("test.en"),
            "--valid-tgt",
            sample("test.de"),
            "--hours",
            hours,
            "--threads",
            "1"};
  }

  /// A folder as a call leaves it that was stopped before its first stage.
  static void begin(const std::string& folder) {
    const nlohmann::json length = {{"preset", "tiny"}, {"updates", 10}, {"seconds", 1}};
    const auto none = nlohmann::json::array();
    const auto text = [](const std::string& name) {
      return hex16(ParallelText({sample(name + ".en")}, {sample(name + ".de")}, InvalidLines::Error,
                                {.threads = 1, .report = [](std::int64_t) {}})
                       .hash());
    };
    const nlohmann::json record = {{"asked",
                                    {{"text", text("valid") + " " + text("test")},
                                     {"source-lang", ""},
                                     {"target-lang", ""},
                                     {"hours", 1.0}}},
                                   {"languages", {"en", "de"}},
                                   {"teacher", length},
                                   {"student", length},
                                   {"done", none},
                                   {"seconds", nlohmann::json::object()}};
    create_folders(std::filesystem::path(path(folder)) / "text");
    for (const auto& [from, to] :
         {std::pair("valid.en", "train.source"), std::pair("valid.de", "train.target"),
          std::pair("test.en", "valid.source"), std::pair("test.de", "valid.target")})
      std::filesystem::copy_file(sample(from), path(folder + "/text/" + to));
    write_file(path(folder + "/best.json"), json_text(record));
  }
};

TEST_F(Best, AKilledCallResumesAndHasTheSameModel) {
  begin("whole");
  const ProcessResult whole = run(command("whole", "1"), "", kLimit);
  ASSERT_EQ(whole.exit_code, 0) << whole.errors;
  for (const std::string line :
       {"stage 1 of 5", "stage 5 of 5", "model.safetensors: done in ... asked for 1:00:00"})
    EXPECT_THAT(whole.errors, Names(line));
  EXPECT_THAT(whole.output, Names("forward"));
  EXPECT_THAT(whole.output, Names("student"));
  const std::string page = read_file(path("whole/best.html"));
  EXPECT_THAT(page, HasSubstr("forward"));
  EXPECT_THAT(page, HasSubstr("student"));
  const auto record = parse_json(read_file(path("whole/best.json")));
  EXPECT_EQ(record.at("seconds").size(), 5u);
  EXPECT_EQ(ModelFileReader(path("whole/model.safetensors")).provenance().target_language, "de");

  begin("killed");
  for (const std::string stage : {"stage 1 of 5", "stage 3 of 5", "stage 5 of 5"}) {
    Process process(command("killed", "1"));
    EXPECT_TRUE(process.wait_for_errors(stage, kLimit)) << process.errors();
    process.send_signal(stage == "stage 3 of 5" ? SIGTERM : SIGKILL);
    process.wait();
  }
  const ProcessResult last = run(command("killed", "1"), "", kLimit);
  ASSERT_EQ(last.exit_code, 0) << last.errors;
  EXPECT_THAT(last.errors, Not(HasSubstr("stage 1 of 5")));
  EXPECT_EQ(weights("killed/model.safetensors"), weights("whole/model.safetensors"));
}

TEST_F(Best, TheStagesStartWithoutProcToo) {
  if (!can_hide_proc()) GTEST_SKIP() << "unshare may not make a mount namespace here";
  std::string words = "exec \"$1\"";
  for (const std::string& word : command("unused", "1")) words += " '" + word + "'";
  Process planned(without_proc("/", words + " --plan"));
  const ProcessResult result = planned.wait(kLimit);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("forward"));
}

TEST_F(Best, WhatElseIsInTheFolderIsKept) {
  using Files = std::vector<std::string>;
  for (const Files& names :
       {Files{"model.safetensors"}, Files{"text/train.source"}, Files{"plan.json", "notes"}}) {
    SCOPED_TRACE(names[0]);
    for (const std::string& name : names) {
      const std::string file = path("taken/" + name);
      create_folders(std::filesystem::path(file).parent_path());
      write_file(file, "of somebody");
    }
    const bool are_free = names.size() == 2;
    expect_failure(run(command("taken", are_free ? "0.001" : "1"), "", kLimit), 2,
                   are_free ? "--hours 0.001 ... or more" : "--output ... taken");
    for (const std::string& name : names)
      EXPECT_EQ(read_file(path("taken/" + name)), "of somebody");
    std::filesystem::remove_all(path("taken"));
  }
}

TEST_F(Best, APlanThatIsStoppedLeavesNothing) {
  Process process(command("stopped", "1"));
  EXPECT_TRUE(process.wait_for_errors("planning", kLimit)) << process.errors();
  process.send_signal(SIGINT);
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 130) << result.errors;
  EXPECT_THAT(result.errors, Not(HasSubstr("SIGTERM")));
  EXPECT_FALSE(std::filesystem::exists(path("stopped")));
}

TEST_F(Best, AStageThatIsKilledIsNamed) {
  begin("lost");
  std::vector<std::string> words = {"sh", "-c", "echo $$ > " + path("pid") + "; exec \"$0\" \"$@\"",
                                    kProgram};
  std::ranges::move(command("lost", "1"), std::back_inserter(words));
  Process process(CommandWords{words});
  EXPECT_TRUE(process.wait_for_errors("first update", kLimit)) << process.errors();
  const std::string pid = std::to_string(std::stoi(read_file(path("pid"))));
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  pid_t child = 0;
  ASSERT_TRUE(children >> child);
  kill(child, SIGKILL);
  const ProcessResult result = process.wait();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, HasSubstr("dragoman train was ended by SIGKILL"));
}

TEST_F(Best, TheFirstModelStaysIfTheStudentIsWorse) {
  begin("worse");
  nlohmann::json record = parse_json(read_file(path("worse/best.json")));
  record["teacher"]["updates"] = 60;
  record["student"]["updates"] = 1;
  write_file(path("worse/best.json"), json_text(record));
  const ProcessResult result = run(command("worse", "1"), "", kLimit);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("the first model, which is kept"));
  EXPECT_EQ(weights("worse/model.safetensors"), weights("worse/forward/model.safetensors"));
}

TEST_F(Best, LanguagesThatItFoundMayBeGiven) {
  begin("languages");
  std::vector<std::string> words = command("languages", "1");
  words.insert(words.end(), {"--source-lang", "en", "--target-lang", "fr"});
  expect_one_error(run(words), 2, "--target-lang ... was begun without it, not with fr");
  words.back() = "de";
  Process process(words);
  EXPECT_TRUE(process.wait_for_errors("stage 1 of 5", kLimit)) << process.errors();
}

TEST_F(Best, OneCallAtATimeHasTheFolder) {
  begin("busy");
  const FolderLock first(path("busy"), "");
  expect_one_error(run(command("busy", "1")), 1, "busy: this command runs here already");
}

TEST_F(Best, TheTextIsKnownByItsContent) {
  begin("moved");
  create_folders(path("elsewhere"));
  std::vector<std::string> words = command("moved", "1");
  for (std::string& word : words)
    if (word == sample("valid.en")) word = path("elsewhere/text.en");
  write_file(path("elsewhere/text.en"), read_file(sample("valid.en")) + "One more.\n");
  expect_one_error(run(words), 1, "valid.de");  // which has a line fewer
  std::string changed = read_file(sample("valid.en"));
  changed[0] = 'X';
  write_file(path("elsewhere/text.en"), changed);
  expect_one_error(run(words), 2, "the text is not the one ... moved");
  write_file(path("elsewhere/text.en"), read_file(sample("valid.en")));
  Process process(words);
  EXPECT_TRUE(process.wait_for_errors("stage 1 of 5", kLimit)) << process.errors();
}

TEST_F(Best, ThePlanDividesTheHoursAndInvalidLinesAreAnErrorOrAreCounted) {
  write_file(path("latin.de"), "gr\xFC\xDF\n" + read_file(sample("train.de")));
  write_file(path("latin.en"), "greet\n" + read_file(sample("train.en")));
  std::vector<std::string> words = {
      "best", "--plan",      "--hours",        "3",           "--threads",
      "1",    "--train-src", path("latin.en"), "--train-tgt", path("latin.de")};
  expect_one_error(run(words), 1, "latin.de:1 ... UTF-8");
  words.insert(words.end(), {"--invalid", "skip", "-o", path("planned")});
  const ProcessResult plan = run(words, "", kLimit);
  ASSERT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_THAT(plan.errors,
              Names("100 validation pairs held out of them ... without 1 invalid pair"));
  for (const std::string stage : {"forward", "reverse", "student"})
    EXPECT_THAT(plan.output, Names(stage + " ... updates of --preset"));
  EXPECT_THAT(plan.output, Names("all ... without validations"));
  EXPECT_THAT(plan.output, HasSubstr("memory "));
  EXPECT_THAT(plan.output, Names("disk ... about"));
  EXPECT_FALSE(std::filesystem::exists(path("planned")));
}

TEST_F(Best, TrainOnATextAloneNamesIt) {
  const std::vector<std::string> words = {
      "train",       "--plan",           "--train-src", sample("train.en"),
      "--train-tgt", sample("train.de"), "--valid-src", sample("valid.en"),
      "--valid-tgt", sample("valid.de")};
  const auto said = [&words](const std::vector<std::string>& more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    const ProcessResult plan = run(all, "", kLimit);
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    return plan.errors;
  };
  EXPECT_THAT(said({}), Names("a better model: dragoman best --train-src ... train.en --train-tgt "
                              "... train.de ... --hours ... -o best/ ... BLEU"));
  write_file(path("given.toml"), "max-updates = \"auto\"\n");
  EXPECT_THAT(said({"--config", path("given.toml")}), HasSubstr("dragoman best --train-src"));
  EXPECT_THAT(said({"--max-updates", "100"}), Not(HasSubstr("dragoman best")));
  EXPECT_THAT(said({"--keep-duplicates"}), Not(HasSubstr("dragoman best")));
}

TEST_F(Best, WhatCannotBeIsRefused) {
  begin("other");
  expect_one_error(run(command("other", "2")), 2, "--hours ... other ... 1.0 ... 2.0");
  expect_one_error(run(command("new", "0")), 2, "--hours 0");
  expect_one_error(run({"best", "-o", path("new")}), 2, "--train-src");
  EXPECT_FALSE(std::filesystem::exists(path("new")));
  std::vector<std::string> words = command("lite", "1");
  words.insert(words.begin(), kLiteProgram);
  Process lite(CommandWords{words});
  expect_one_error(lite.wait(), 2, "best is a command of dragoman ... LibTorch", "dragoman-lite");
}

}  // namespace
}  // namespace dragoman
