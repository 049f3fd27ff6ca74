#include "base/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace dragoman {
namespace {

TEST(ThreadTeam, EachTaskRunsOnceAndAlwaysOnTheSameThread) {
  ThreadTeam team;
  std::vector<std::thread::id> first(3), second(5);
  team.run(3, [&](std::size_t i) { first[i] = std::this_thread::get_id(); });
  team.run(5, [&](std::size_t i) { second[i] = std::this_thread::get_id(); });
  for (std::size_t i = 0; i < 5; ++i) {
    if (i < 3) {
      EXPECT_EQ(first[i], second[i]);
    }
    EXPECT_NE(second[i], std::this_thread::get_id());
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(second[i], second[j]);
  }
  team.run(1, [&](std::size_t) { first[0] = std::thread::id(); });
  EXPECT_EQ(first[0], std::thread::id());
}

TEST(ThreadTeam, TasksRunSideBySide) {
  ThreadTeam team;
  std::latch all(4);
  team.run(4, [&](std::size_t) { all.arrive_and_wait(); });
  EXPECT_TRUE(all.try_wait());
}

TEST(ThreadTeam, AnExceptionComesAfterAllHaveEndedAndTheTeamWorksOn) {
  ThreadTeam team;
  std::atomic<int> ended = 0;
  const auto failing = [&](std::size_t i) {
    ++ended;
    if (i > 0) throw std::runtime_error(std::to_string(i));
  };
  try {
    team.run(3, failing);
    ADD_FAILURE() << "no exception";
  } catch (const std::runtime_error& problem) {
    EXPECT_STREQ(problem.what(), "1");
  }
  EXPECT_EQ(ended, 3);
  team.run(3, [&](std::size_t) { ++ended; });
  EXPECT_EQ(ended, 6);
}

}  // namespace
}  // namespace dragoman
