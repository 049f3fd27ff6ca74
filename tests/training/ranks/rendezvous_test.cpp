#include "training/ranks/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/free_port.h"
#include "tests/names.h"
#include "tests/training/ranks/ranks.h"
#include "training/ranks/rank_info.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

/// Each rank joins a rendezvous, works, and leaves with the reason that the work returns.
std::vector<std::string> run_at_rendezvous(
    int size, Milliseconds silence, const std::function<std::string(Rendezvous&, int rank)>& work) {
  const int port = free_port();
  return run_ranks(size, [&](int rank) {
    const auto rendezvous =
        std::make_shared<Rendezvous>(info_on_loopback(rank, size, port), silence);
    rendezvous->join();
    try {
      rendezvous->leave(work(*rendezvous, rank));
    } catch (const Error& error) {
      rendezvous->leave(error.what());
      throw;
    }
  });
}

constexpr Milliseconds kSilence(2000);

TEST(Rendezvous, AllRanksGetTextsInTheOrderOfRanks) {
  const auto errors = run_at_rendezvous(3, kSilence, [&](Rendezvous& rendezvous, int rank) {
    EXPECT_THAT(rendezvous.name(2), HasSubstr("rank 2 (host "));
    for (int round = 0; round < 50; ++round) {
      const std::string text(static_cast<std::size_t>(round * 100), static_cast<char>('a' + rank));
      const auto texts = rendezvous.exchange(text);
      EXPECT_EQ(texts.size(), 3U);
      EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text);
      EXPECT_EQ(texts[2], std::string(static_cast<std::size_t>(round * 100), 'c'));
    }
    return "";
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(Rendezvous, ARankMayWorkAloneForLong) {
  const auto errors =
      run_at_rendezvous(2, Milliseconds(200), [&](Rendezvous& rendezvous, int rank) {
        if (rank == 0) std::this_thread::sleep_for(Milliseconds(450));
        rendezvous.exchange("");
        if (rank == 1) std::this_thread::sleep_for(Milliseconds(450));  // rank 0 waits with its end
        return "";
      });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(Rendezvous, ARankThatHasGivenUpIsNamedWithTheReason) {
  for (const int failing : {0, 2}) {
    const auto errors = run_at_rendezvous(3, kSilence, [&](Rendezvous& rendezvous, int rank) {
      rendezvous.exchange("");
      if (rank == failing) return "no space left";
      rendezvous.exchange("");
      return "";
    });
    for (int rank = 0; rank < 3; ++rank)
      if (rank != failing) {
        EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                    AllOf(HasSubstr(join_text("rank ", failing, " (host ")),
                          Names("stopped ... no space left")));
      }
  }
}

TEST(Rendezvous, ARankThatEndsBeforeTheOthersIsNamed) {
  for (const int early : {0, 1}) {
    const auto errors = run_at_rendezvous(2, kSilence, [&](Rendezvous& rendezvous, int rank) {
      if (rank != early) rendezvous.exchange("");
      return "";
    });
    EXPECT_THAT(errors[static_cast<std::size_t>(1 - early)],
                AllOf(HasSubstr(join_text("rank ", early)), HasSubstr("has ended before")));
  }
}

TEST(Rendezvous, RanksThatHaveNotComeAreNamed) {
  const int port = free_port();
  const auto errors = run_ranks(2, [&](int rank) {
    std::make_shared<Rendezvous>(info_on_loopback(rank, 4, port), Milliseconds(100))->join();
  });
  EXPECT_THAT(errors, Each(Names("4 ranks ... 1 s ... 2, 3")));
}

TEST(Rendezvous, RanksThatCountDifferentlyAreRefused) {
  const int port = free_port();
  const auto errors = run_ranks(2, [&](int rank) {
    std::make_shared<Rendezvous>(info_on_loopback(rank, 2 + rank, port), kSilence)->join();
  });
  EXPECT_THAT(errors, Each(Names("3 ranks ... rank 0 ... 2")));
}

RankIntroduction introduction(const std::string& address, const std::string& rank_0) {
  return {
      .name = "name", .machine = "machine", .process = "1", .address = address, .rank_0 = rank_0};
}

TEST(RankIntroduction, TheTextOfAnIntroductionHasAllOfIt) {
  const auto known = introduction_from_text(to_text(introduction("10.0.0.2", "10.0.0.1")));
  EXPECT_EQ(known.name, "name");
  EXPECT_EQ(known.machine, "machine");
  EXPECT_EQ(known.process, "1");
  EXPECT_EQ(known.address, "10.0.0.2");
  EXPECT_EQ(known.rank_0, "10.0.0.1");
}

TEST(RankIntroduction, ALoopbackServesOnlyOnOneMachine) {
  const auto first = introduction("127.0.1.1", "127.0.1.1");
  const auto second = introduction("127.0.0.1", "127.0.1.1");
  const auto distant = introduction("10.0.0.2", "10.0.0.1");
  EXPECT_EQ(reachable_address({first, second}, 0), "127.0.1.1");
  EXPECT_EQ(reachable_address({first, second, distant}, 0), "10.0.0.1");
  EXPECT_EQ(reachable_address({first, second, distant}, 1), "10.0.0.1");
  EXPECT_EQ(reachable_address({first, second, distant}, 2), "10.0.0.2");
}

}  // namespace
}  // namespace dragoman
