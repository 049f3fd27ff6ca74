#include "base/helper_team.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <thread>

namespace dragoman {
namespace {

TEST(HelperTeam, EachTaskRunsOnceInEveryCall) {
  HelperTeam team(3);
  EXPECT_EQ(team.size(), 4);
  std::array<std::atomic<int>, 9> calls{};
  const auto count = [&](std::size_t i) { ++calls[i]; };
  for (int round = 1; round <= 20'000; ++round) {
    const std::size_t tasks = 1 + static_cast<std::size_t>(round) % calls.size();
    for (auto& of_task : calls) of_task = 0;
    team.run(tasks, std::ref(count));
    for (std::size_t i = 0; i < calls.size(); ++i) ASSERT_EQ(calls[i], i < tasks ? 1 : 0);
  }
}

TEST(HelperTeam, SleepingHelpersWakeUpAgain) {
  HelperTeam team(1);
  for (int round = 0; round < 5; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));  // longer than a caller works alone
    std::atomic<int> here = 0;
    team.run(2, [&](std::size_t) {  // neither ends before both are being done
      ++here;
      while (here < 2) std::this_thread::yield();
    });
    EXPECT_EQ(here, 2);
  }
}

TEST(HelperTeam, WithoutHelpersTheCallerDoesAll) {
  HelperTeam team(0);
  int tasks = 0;
  team.run(5, [&](std::size_t) { ++tasks; });
  EXPECT_EQ(tasks, 5);
}

TEST(HelperTeam, ThereAreAsManyHelpersAsThereIsMemoryFor) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs address space of its own";
#endif
  rlimit before{}, stack{};
  getrlimit(RLIMIT_AS, &before);
  getrlimit(RLIMIT_STACK, &stack);
  std::int64_t mapped = 0;  // pages
  std::ifstream("/proc/self/statm") >> mapped;
  const rlimit tight{static_cast<rlim_t>(mapped * sysconf(_SC_PAGESIZE)) + 3 * stack.rlim_cur,
                     before.rlim_max};
  setrlimit(RLIMIT_AS, &tight);
  HelperTeam team(60);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_LT(team.size(), 30U);  // the stacks of earlier threads may serve again
  std::atomic<int> tasks = 0;
  team.run(100, [&](std::size_t) { ++tasks; });
  EXPECT_EQ(tasks, 100);
}

}  // namespace
}  // namespace dragoman
