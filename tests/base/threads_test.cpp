#include "base/threads.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <latch>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/lines.h"
#include "tests/base/pipe.h"

namespace dragoman {
namespace {

TEST(ParallelFor, EachNumberIsVisitedOnce) {
  for (const int threads : {1, 2, 7})
    for (const std::int64_t count : {0, 1, 5, 1000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(count, threads, [&](std::int64_t i) { ++visits[static_cast<std::size_t>(i)]; });
      EXPECT_TRUE(std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; }))
          << threads << " threads, " << count << " numbers";
    }
}

TEST(ParallelFor, AnErrorOfTheBodyIsThrown) {
  for (const int threads : {1, 3})
    EXPECT_THROW(parallel_for(100, threads,
                              [](std::int64_t i) {
                                if (i == 50) throw Error("fifty");
                              }),
                 Error);
}

/// The affinity mask of a process on a machine that could have `possible` cores.
ReadAffinity affinity_of(int allowed, std::size_t possible) {
  return [=](std::size_t bytes, unsigned char* mask) {
    if (8 * bytes < possible) return false;
    for (int core = 0; core < allowed; ++core)
      mask[core / 8] = static_cast<unsigned char>(mask[core / 8] | 1U << (core % 8));
    return true;
  };
}

TEST(Cores, OfALargeMachineThoseOfTheAffinityMaskCount) {
  EXPECT_EQ(cores_of_affinity(affinity_of(2, 2)), 2);
  EXPECT_EQ(cores_of_affinity(affinity_of(192, 256)), 192);
  EXPECT_EQ(cores_of_affinity(affinity_of(8, 2048)), 8) << "longer than a cpu_set_t";
  EXPECT_EQ(cores_of_affinity(affinity_of(5000, 8192)), 5000);
  EXPECT_EQ(cores_of_affinity([](std::size_t, unsigned char*) { return false; }), 0);
}

TEST(Cores, AQuotaOfHalfACoreStandsForOneCore) {
  EXPECT_EQ(cores_within(192, 0.5), 1);
  EXPECT_EQ(cores_within(192, 3.5), 4);
  EXPECT_EQ(cores_within(2, 8.0), 2);
  EXPECT_EQ(cores_within(192, std::nullopt), 192);
  EXPECT_EQ(cores_within(0, std::nullopt), 1);
}

TEST(ThreadsToUse, CoresAreDividedAmongProcessesUnlessTheFlagSaysHowMany) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(threads_to_use(0, 1), available_cores());
  EXPECT_EQ(threads_to_use(0, 1000), 1);
  EXPECT_EQ(threads_to_use(3, 1000), 3);
  EXPECT_THROW(threads_to_use(-1, 1), UsageError);
  EXPECT_THROW(threads_to_use(100'000, 1), UsageError);
}

TEST(LimitCores, TheLimitBoundsWhatAThreadsFlagOf0StandsFor) {
  const int all = available_cores();
  limit_cores(1);
  EXPECT_EQ(available_cores(), 1);
  EXPECT_EQ(threads_to_use(0), 1);
  limit_cores(all);
  EXPECT_EQ(available_cores(), all);
}

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

TEST(WakeUp, AWakeUpEndsTheWaitForALine) {
  Pipe pipe;
  LineReader reader(pipe.out(), "input");
  const WakeUp wake_up;
  const std::jthread waking([&] { wake_up.wake(); });
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()));
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()))
      << "until it is cleared";
  pipe.send("one\n");
  EXPECT_TRUE(reader.receive(std::chrono::milliseconds{-1}, wake_up.descriptor()))
      << "what has come is taken in, too";
  wake_up.clear();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(reader.receive(std::chrono::milliseconds{20}, wake_up.descriptor()));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{19});
}

}  // namespace
}  // namespace dragoman
