#include "base/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/error.h"

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

}  // namespace
}  // namespace dragoman
