#include "training/rank_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "base/error.h"
#include "tests/training/ranks.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

/// What rank 0 posts, for ranks of one process.
class Board {
 public:
  RankLinks::NoticeBoard board() {
    return {.post = [this](const std::string& text) { notice_.set_value(text); },
            .read = [this] { return future_.get(); }};
  }

 private:
  std::promise<std::string> notice_;
  std::shared_future<std::string> future_ = notice_.get_future().share();
};

constexpr RankLinks::Limits kLimits{.silence = Milliseconds(2000), .joining = Milliseconds(20000)};

TEST(RankLinks, HandTextsToAllRanksInTheirOrder) {
  Board board;
  const auto errors = run_ranks(3, [&](int rank) {
    RankLinks links(place_on_loopback(rank, 3, 0), kLimits, board.board());
    EXPECT_EQ(links.address(), "127.0.0.1");
    EXPECT_THAT(links.name(2), HasSubstr("rank 2 (host "));
    for (int round = 0; round < 50; ++round) {
      const std::string text(static_cast<std::size_t>(round * 100), static_cast<char>('a' + rank));
      const auto texts = links.exchange(text);
      ASSERT_EQ(texts.size(), 3U);
      EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text);
      EXPECT_EQ(texts[2], std::string(static_cast<std::size_t>(round * 100), 'c'));
    }
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(RankLinks, ARankMayWorkAloneForLong) {
  constexpr RankLinks::Limits kShort{.silence = Milliseconds(200), .joining = Milliseconds(20000)};
  Board board;
  const auto errors = run_ranks(2, [&](int rank) {
    RankLinks links(place_on_loopback(rank, 2, 0), kShort, board.board());
    if (rank == 0) std::this_thread::sleep_for(Milliseconds(700));
    links.exchange("");
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(RankLinks, SayWhichRankHasGivenUpAndWhy) {
  for (const int failing : {0, 2}) {
    Board board;
    const auto errors = run_ranks(3, [&](int rank) {
      RankLinks links(place_on_loopback(rank, 3, 0), kLimits, board.board());
      links.exchange("");
      if (rank == failing) {
        links.give_up("no space left");
        return;
      }
      links.exchange("");
    });
    for (int rank = 0; rank < 3; ++rank)
      if (rank != failing) {
        EXPECT_THAT(errors[static_cast<std::size_t>(rank)],
                    AllOf(HasSubstr(join_text("rank ", failing, " (host ")),
                          HasSubstr("has stopped: no space left")));
      }
  }
}

TEST(RankLinks, ALostRankStopsTheWorkOfTheOthers) {
  Board board;
  const auto errors = run_ranks(2, [&](int rank) {
    RankLinks links(place_on_loopback(rank, 2, 0), kLimits, board.board());
    if (rank == 1) {
      links.give_up("tired");
      return;
    }
    while (!links.lost().stop_requested()) std::this_thread::sleep_for(Milliseconds(5));
    links.throw_loss("never said");
  });
  EXPECT_THAT(errors[0], HasSubstr("tired"));
}

TEST(RankLinks, NameTheRanksThatHaveNotCome) {
  constexpr RankLinks::Limits kShort{.silence = Milliseconds(200), .joining = Milliseconds(500)};
  Board board;
  const auto errors = run_ranks(
      2, [&](int rank) { RankLinks links(place_on_loopback(rank, 4, 0), kShort, board.board()); });
  EXPECT_THAT(errors[0], HasSubstr("have not come within 0.5 s: 2, 3"));
  EXPECT_THAT(errors[1], HasSubstr("rank 0 has not begun"));
}

TEST(RankLinks, RefuseRanksThatCountOtherwise) {
  Board board;
  const auto errors = run_ranks(2, [&](int rank) {
    RankLinks links(place_on_loopback(rank, 2 + rank, 0), kLimits, board.board());
  });
  EXPECT_THAT(errors[0], HasSubstr("counts 3 ranks, rank 0 counts 2"));
}

TEST(RankLinks, StrangersAreNoRanks) {
  Board board;
  const auto errors = run_ranks(2, [&](int rank) {
    if (rank == 1) {
      const auto posted = unpack_texts(board.board().read());
      RankSocket stranger =
          RankSocket::connected_to("127.0.0.1", std::stoi(posted[1]), Milliseconds(1000));
      stranger.send({RankMessage::Kind::Text, pack_texts({"wrong", "1", "2", "x"})},
                    Milliseconds(1000));
    }
    RankLinks links(place_on_loopback(rank, 2, 0), kLimits, board.board());
    links.exchange("");
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(RankSocket, TextsArePackedWhateverTheyHold) {
  const std::vector<std::string> texts = {"", std::string("\0\n", 2), "abc"};
  EXPECT_EQ(unpack_texts(pack_texts(texts)), texts);
  EXPECT_THROW(unpack_texts(pack_texts(texts).substr(0, 20)), Error);
}

}  // namespace
}  // namespace dragoman
