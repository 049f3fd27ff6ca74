// scripts/launch: several ranks on one machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include "tests/system/train_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using LaunchedTraining = Train;

/// scripts/launch with a number of ranks and a command.
CommandWords launch(const std::string& ranks, const std::vector<std::string>& command) {
  CommandWords words{{"bash", std::string(kSources) + "/scripts/launch", ranks}};
  words.words.insert(words.words.end(), command.begin(), command.end());
  return words;
}

TEST_F(LaunchedTraining, ATrainingRunsOnSeveralRanks) {
  auto words = command("launched", {"--max-updates", "20"});
  words.insert(words.begin(), kProgram);
  const auto result = Process(launch("2", words)).wait(kLimit);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("training on 2 ranks"));
  EXPECT_THAT(result.errors, HasSubstr("finished by --max-updates after 20 updates"));
}

TEST_F(LaunchedTraining, ATrainingGetsTheSignalsThatLaunchGets) {
  auto words = command("launched-signal", {"--max-updates", "100000"});
  words.insert(words.begin(), kProgram);
  Process process(launch("2", words));
  ASSERT_TRUE(process.wait_for_errors("update 10", kLimit)) << process.errors();
  process.send_signal(SIGINT);
  const auto result = process.wait(kLimit);
  EXPECT_EQ(result.exit_code, 128 + SIGINT) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("the same command goes on from here"));
}

TEST(Launch, WhenARankFailsAllEndWithItsCode) {
  const auto result = Process(launch("3", {"bash", "-c", "[ $RANK = 1 ] && exit 7; sleep 100"}))
                          .wait(std::chrono::seconds(30));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 7) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("rank 1 has ended with code 7"));
}

TEST(Launch, EachRankIsToldWhereTheRanksAre) {
  const auto result =
      Process(launch("2", {"bash", "-c",
                           "echo $RANK/$WORLD_SIZE $LOCAL_RANK/$LOCAL_WORLD_SIZE $MASTER_ADDR"}))
          .wait();
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("0/2 0/2 127.0.0.1"));
  EXPECT_THAT(result.output, HasSubstr("1/2 1/2 127.0.0.1"));
  EXPECT_EQ(Process(launch("none", {"true"})).wait().exit_code, 2);
}

}  // namespace
}  // namespace dragoman
