#include "base/helper_team.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace dragoman {
namespace {

TEST(HelperTeam, DoesEachPieceOnceCallAfterCall) {
  HelperTeam team(3);
  EXPECT_EQ(team.size(), 4);
  std::array<std::atomic<int>, 9> calls{};
  const auto count = [&](std::size_t i) { ++calls[i]; };
  for (int round = 1; round <= 20'000; ++round) {
    const std::size_t pieces = 1 + static_cast<std::size_t>(round) % calls.size();
    for (auto& piece : calls) piece = 0;
    team.run(pieces, std::ref(count));
    for (std::size_t i = 0; i < calls.size(); ++i) ASSERT_EQ(calls[i], i < pieces ? 1 : 0);
  }
}

TEST(HelperTeam, HelpersThatSleepComeAgain) {
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
  int pieces = 0;
  team.run(5, [&](std::size_t) { ++pieces; });
  EXPECT_EQ(pieces, 5);
}

}  // namespace
}  // namespace dragoman
