// train --plan and --max-tokens auto, as a user meets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::Not;
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

TEST_F(TrainPlan, APlanGivesMemorySpeedTimeAndDiskAndLeavesNoFile) {
  const auto planned = plan(command("planned"), path("temporary"));
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  for (const char* line : {"\nparameters ", "\nmemory ", "\n  activations ",
                           "\ntarget pieces per second ", "\nupdate ", "for 60 updates", "\ndisk "})
    EXPECT_THAT("\n" + planned.output, HasSubstr(line));
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

TEST_F(TrainPlan, ThePlanOfARunThatIsThereUsesItsCacheAndChangesNothing) {
  ASSERT_EQ(run(command("there", {"--max-updates", "10"}), "", kLimit).exit_code, 0);
  const auto before = contents(path("there"));
  const auto planned = plan(command("there"), path("temporary"));
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_THAT(planned.errors, HasSubstr("data (from the cache)"));
  const auto other = plan(command("there", {"--vocab-size", "310"}), path("temporary"));
  EXPECT_EQ(other.exit_code, 2) << "train refuses it, too";
  EXPECT_THAT(other.errors, HasSubstr("--vocab-size: this run was started with"));
  EXPECT_TRUE(contents(path("there")) == before);
  EXPECT_TRUE(std::filesystem::is_empty(path("temporary")));
}

/// "123 an epoch" of the line of the update.
double updates_per_epoch(const std::string& plan) {
  const auto line = plan.find("\nupdate "), begin = plan.find("; ", line) + 2;
  std::string number = plan.substr(begin, plan.find(" an epoch", begin) - begin);
  std::erase(number, ',');
  return std::stod(number);
}

TEST_F(TrainPlan, AnEpochHasAPairAsOftenAsItsWeightSays) {
  const auto once = plan(command("weighed"), path("temporary"));
  ASSERT_EQ(once.exit_code, 0) << once.errors;
  const auto thrice = plan(command("weighed", {"--corpus-weights", "3"}), path("temporary"));
  ASSERT_EQ(thrice.exit_code, 0) << thrice.errors;
  EXPECT_NEAR(updates_per_epoch(thrice.output), 3 * updates_per_epoch(once.output), 1);
}

TEST_F(TrainPlan, AnAutomaticTokenBudgetIsMeasuredOnce) {
  const auto automatic = command("automatic", {"--max-tokens", "auto", "--max-updates", "10"});
  const auto trained = run(automatic, "", kLimit);
  ASSERT_EQ(trained.exit_code, 0) << trained.errors;
  EXPECT_THAT(trained.errors, HasSubstr("--max-tokens auto: 1,024"));
  EXPECT_THAT(read_file(path("automatic/config.toml")),
              HasSubstr("\nmax-tokens = \"auto\"  # 1024: "));
  const auto again = run(automatic, "", kLimit);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_THAT(again.errors, HasSubstr("resumed from"));
  EXPECT_THAT(again.errors, Not(HasSubstr("trying token budgets")));
  const auto given = run(command("automatic", {"--max-tokens", "1024"}), "", kLimit);
  EXPECT_EQ(given.exit_code, 0) << given.errors;
}

}  // namespace
}  // namespace dragoman
