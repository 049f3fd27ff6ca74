// The settings of a run: those that were asked for and those that train chooses, in config.toml and
// in a resumed run; the end of a run without a length; --plan.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "tests/names.h"
#include "tests/system/train_fixture.h"

namespace dragoman {

namespace {

using testing::HasSubstr;
using testing::Not;

class TrainSettings : public Train {
 protected:
  static std::string settings_of(const std::string& run_folder) {
    return read_file(path(run_folder + "/config.toml"));
  }
};

TEST_F(TrainSettings, TheFileOfARunAsksForTheSameInAnotherFolderAndLetsTheRestBeChosenAgain) {
  const auto first = command("first", {"--max-updates", "30", "--lr-scheduler", "cosine", "--lr",
                                       "0.004", "--max-tokens", "auto"});
  train(first);
  const std::string settings = settings_of("first");
  for (const char* line :
       {"lr = 0.004", "max-updates = 30", "# lr-end = 30  # --max-updates",
        "max-tokens = \"auto\"  # 2048: ", "# patience = 0  # 1,496 pairs", "# update-freq = 1"})
    EXPECT_THAT(settings, HasSubstr(join_text("\n", line)));
  EXPECT_THAT(settings, HasSubstr("\n# output = "));
  std::filesystem::copy(path("first"), path("copied"), std::filesystem::copy_options::recursive);
  const auto nowhere = run({"train", "--config", path("copied/config.toml")}, "", kLimit);
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.errors, HasSubstr("-o/--output"));

  // The rate of another run ends where that one does, not at 0 after the 30th update.
  train({"train", "--config", path("first/config.toml"), "-o", path("longer"), "--max-updates",
         "40"});
  EXPECT_THAT(settings_of("longer"), HasSubstr("\n# lr-end = 40  # --max-updates\n"));
  EXPECT_THAT(settings_of("longer"), HasSubstr("\nlr = 0.004\n"));
}

TEST_F(TrainSettings, ThePresetsAreListedByTheValuesInWhichTheyDiffer) {
  const auto result = run({"train", "--list-presets"}, "", kLimit);
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  // Table 3 of the paper.
  for (const char* line :
       {"preset +tiny +small +base +big", "d-model .* 512 +1024", "d-ff .* 2048 +4096",
        "heads .* 8 +16", "dropout .* 0.1 +0.3", "lr-scheduler .* inverse-sqrt +inverse-sqrt"})
    EXPECT_THAT(result.output, testing::ContainsRegex(join_text("(^|\n)", line, "\n")));
  for (const char* same : {"output", "label-smoothing"})
    EXPECT_THAT(result.output, Not(HasSubstr(same)));
}

TEST_F(TrainSettings, AResumedRunKeepsWhatItsCommandLeavesOpen) {
  const std::vector<std::string> more = {"--lr",  "0.003",        "--corpus-tags",
                                         "<a,b>", "--vocab-size", "310"};
  train(command("straight", more));
  auto words = more;
  words.insert(words.end(), {"--max-updates", "30"});
  train(command("resumed", words));
  const auto resumed = train({"train", "-o", path("resumed"), "--max-updates", "60"});
  EXPECT_THAT(resumed.errors, HasSubstr("resumed from"));
  EXPECT_THAT(resumed.errors, Names("--max-updates ... 30 -> 60"));
  EXPECT_THAT(resumed.errors, Not(HasSubstr("not bit-identically")));
  EXPECT_TRUE(same_weights("straight", "resumed", 60));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\nlr = 0.003\n"));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\ncorpus-tags = [\"<a,b>\"]\n"));
  EXPECT_THAT(settings_of("resumed"), HasSubstr("\nmax-updates = 60\n"));
}

TEST_F(TrainSettings, AutoLeavesAValueOpenThatTheFileGives) {
  write_file(path("given.toml"), "patience = 3\nlr = 'auto'\n");
  train(command("open",
                {"--config", path("given.toml"), "--patience", "auto", "--max-updates", "1"}));
  EXPECT_THAT(settings_of("open"), HasSubstr("\npatience = \"auto\"  # 0: 1,496 pairs\n"));
  EXPECT_THAT(settings_of("open"), HasSubstr("\nlr = \"auto\"  # 0.004: 1,500 pairs"));
}

class TrainAutomatic : public Train {
 protected:
  /// The two texts and nothing that decides the model.
  static std::vector<std::string> two_files(const std::string& run_folder,
                                            const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {
        "train",           "-o", path(run_folder), "--train-src", sample("train.en"), "--train-tgt",
        sample("train.de")};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(TrainAutomatic, TwoFilesAreEnoughAndTheChoicesAreSaidAndKept) {
  const auto first = train(two_files("run", {"--max-updates", "8"}));
  EXPECT_THAT(first.errors, HasSubstr(" pairs: tiny, "));
  EXPECT_THAT(first.errors, HasSubstr("warning: only 1,3"));
  EXPECT_THAT(first.errors, Names("100 ... held out for validation"));
  EXPECT_THAT(first.errors, HasSubstr("first update done (1): "));
  const std::string settings = read_file(path("run/config.toml"));
  EXPECT_THAT(settings, HasSubstr("\n# preset = \"tiny\"  # 1,500 pairs\n"));
  EXPECT_THAT(settings, HasSubstr("\n# patience = 0  # 1,3"));
  EXPECT_THAT(settings, HasSubstr("\n# lr-scheduler = \"wsd\""));

  const auto longer = train(two_files("run", {"--max-updates", "12"}));
  EXPECT_THAT(longer.errors, Names("rate ... peak"));
  EXPECT_THAT(longer.errors, Not(HasSubstr("not bit-identically")));
}

TEST_F(TrainAutomatic, AValueThatAFlagGivesIsNotChosen) {
  // Few sentences to validate with, as a small model without training writes long ones.
  const auto result =
      train(two_files("flags", {"--max-updates", "3", "--vocab-size", "400", "--lr", "0.001",
                                "--preset", "small", "--patience", "3", "--valid-src",
                                sample("valid.en"), "--valid-tgt", sample("valid.de")}));
  EXPECT_THAT(result.errors, Names("small ... 400 pieces ... 3 updates"));
  const std::string settings = read_file(path("flags/config.toml"));
  for (const char* line : {"lr = 0.001", "vocab-size = 400", "patience = 3", "preset = \"small\""})
    EXPECT_THAT(settings, HasSubstr(join_text("\n", line, "\n")));
  EXPECT_THAT(settings, HasSubstr("\n# subword-sampling = 0.1  # 1,500 pairs\n"))
      << "what the preset that was asked for leaves open";
}

TEST_F(TrainAutomatic, ARunThatGainsNothingCoolsDownAndEnds) {
  const auto result = train(command(
      "flat", {"--lr-scheduler", "wsd", "--lr", "1e-60", "--warmup-updates", "1", "--valid-every",
               "5", "--patience", "2", "--cooldown", "0.5", "--max-updates", "1000"}));
  // Validations at 5, 10 and 15; as many updates again with a falling rate.
  EXPECT_THAT(result.errors, Names("2 validations ... rate falls ... update 30"));
  EXPECT_THAT(result.errors, Names("--patience ... 30 updates"));
  EXPECT_THAT(result.errors, Names("0 ... other limits"));
}

TEST_F(TrainAutomatic, ARunThatIsStoppedSaysHowItEndsSoonAndDoesSo) {
  const std::vector<std::string> wsd = {"--lr-scheduler", "wsd",    "--warmup-updates", "2",
                                        "--max-updates",  "1000000"};
  Process process(command("early", wsd));
  ASSERT_TRUE(process.wait_for_errors("validation at update 20", kLimit));
  process.send_signal(SIGINT);
  const auto stopped = process.wait(kLimit);
  const std::string flag = "add --max-updates ";
  const auto at = stopped.errors.find(flag);
  ASSERT_NE(at, std::string::npos) << stopped.errors;
  const std::string updates = std::to_string(std::stoll(stopped.errors.substr(at + flag.size())));
  std::vector<std::string> shorter = wsd;
  shorter.insert(shorter.end(), {"--max-updates", updates});
  const auto ended = train(command("early", shorter));
  EXPECT_THAT(ended.errors, Names("--max-updates ... " + updates + " updates"));
}

TEST_F(TrainAutomatic, ARunThatIsStoppedWhileItCoolsDownEndsWithTheSameWeights) {
  const std::vector<std::string> wsd = {"--lr-scheduler", "wsd", "--cooldown",    "0.6",
                                        "--ema",          "0.9", "--max-updates", "300"};
  train(command("whole", wsd));
  Process process(command("stopped", wsd));
  ASSERT_TRUE(process.wait_for_errors("the rate falls from here to update 300", kLimit));
  process.send_signal(SIGINT);
  const auto stopped = process.wait(kLimit);
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT) << stopped.errors;
  train(command("stopped", wsd));
  EXPECT_TRUE(same_weights("whole", "stopped", 300));
}

using TrainPlan = Train;

/// Every file below a folder with its bytes.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    files[entry.path()] = entry.is_regular_file() ? read_file(entry.path()) : "";
  return files;
}

ProcessResult plan(const std::vector<std::string>& command, const std::string& temporary) {
  auto words = command;
  words.push_back("--plan");
  std::filesystem::create_directories(temporary);
  return Process(words, {{"TMPDIR", temporary}}).wait(kLimit);
}

/// "123 an epoch" of the line of the update.
double updates_per_epoch(const std::string& plan) {
  const auto line = plan.find("\nupdate "), begin = plan.find("; ", line) + 2;
  std::string number = plan.substr(begin, plan.find(" an epoch", begin) - begin);
  std::erase(number, ',');
  return std::stod(number);
}

TEST_F(TrainPlan, APlanGivesMemorySpeedTimeAndDiskAndLeavesNoFile) {
  const auto planned = plan(command("planned"), path("temporary"));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  for (const char* line :
       {"\nparameters ", "\nmemory ", "\n  program and text ", "\n  activations ",
        "\ntarget pieces per second ", "\nupdate ", "for 60 updates", "\ndisk "})
    EXPECT_THAT("\n" + planned.output, HasSubstr(line));
  const auto thrice = plan(command("planned", {"--corpus-weights", "3"}), path("temporary"));
  ASSERT_EQ(thrice.exit_code, 0) << thrice.errors;
  EXPECT_NEAR(updates_per_epoch(thrice.output), 3 * updates_per_epoch(planned.output), 1)
      << "an epoch has a pair as often as its weight says";
  EXPECT_FALSE(std::filesystem::exists(path("planned")));
  EXPECT_TRUE(std::filesystem::is_empty(path("temporary")));
}

TEST_F(TrainPlan, APlanNeedsNoRunFolder) {
  auto words = command("unnamed");
  const auto flag = std::ranges::find(words, "-o");
  ASSERT_NE(flag, words.end());
  words.erase(flag, flag + 2);
  const auto planned = plan(words, path("temporary"));
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_THAT(planned.output, HasSubstr("\ndisk "));
  EXPECT_EQ(run(words, "", kLimit).exit_code, 2) << "a run needs one";
}

TEST_F(TrainPlan, OtherProgramsGetThePlanAsOneObject) {
  const auto planned = plan(command("objects", {"--log-format", "json"}), path("temporary"));
  ASSERT_EQ(planned.exit_code, 0) << planned.errors;
  const auto facts = parse_json(planned.output);
  EXPECT_EQ(facts["preset"], "tiny");
  EXPECT_EQ(facts["updates"], 60);
  EXPECT_NEAR(facts["seconds"], 60 * facts["seconds_per_update"].get<double>(), 1);
  EXPECT_GT(facts["disk_bytes"], 0);
}

TEST_F(TrainPlan, ThePlanOfARunThatIsThereUsesItsCacheAndChangesNothing) {
  train(command("there", {"--max-updates", "10"}));
  const auto before = contents(path("there"));
  const auto planned = plan(command("there"), path("temporary"));
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_THAT(planned.errors, HasSubstr("data (from the cache)"));
  const auto other = plan(command("there", {"--vocab-size", "310"}), path("temporary"));
  EXPECT_EQ(other.exit_code, 2) << "train refuses it, too";
  EXPECT_THAT(other.errors, Names("--vocab-size ... this run"));
  EXPECT_TRUE(contents(path("there")) == before);
  EXPECT_TRUE(std::filesystem::is_empty(path("temporary")));
}

TEST_F(TrainPlan, AFileInThePlaceOfTheRunsFolderIsRefusedByTheRunAndItsPlan) {
  write_file(path("file"), "");
  for (const char* output : {"file", "file/below"}) {
    for (const auto& refused :
         {run(command(output), "", kLimit), plan(command(output), path("temporary"))}) {
      expect_failure(refused, 1, path("file") + " ... folder ... -o");
    }
  }
  EXPECT_EQ(read_file(path("file")), "");
}

}  // namespace

}  // namespace dragoman
