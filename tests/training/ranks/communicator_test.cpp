#include "training/ranks/communicator.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <utility>

#include "base/error.h"
#include "tests/free_port.h"
#include "tests/names.h"
#include "tests/training/ranks/ranks.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<std::string> run_communicators(int size,
                                           const std::function<void(Communicator& ranks)>& work) {
  const int port = free_port();
  return run_ranks(size, [&](int rank) {
    at::set_num_threads(1);
    Communicator ranks(info_on_loopback(rank, size, port), 5);
    work(ranks);
  });
}

TEST(Communicator, OneRankAloneChangesNothing) {
  Communicator ranks(RankInfo{}, 5);
  auto tensor = torch::arange(3.0);
  ranks.sum(tensor);
  ranks.broadcast(tensor);
  std::vector<double> numbers = {0.1, 2};
  ranks.sum(numbers);
  EXPECT_TRUE(torch::equal(tensor, torch::arange(3.0)));
  EXPECT_EQ(numbers, (std::vector<double>{0.1, 2}));
  EXPECT_EQ(ranks.gather(std::string("x")), std::vector<std::string>{"x"});
  EXPECT_EQ(ranks.broadcast("y"), "y");
  EXPECT_TRUE(ranks.leads());
}

TEST(Communicator, SumsAndCopiesGoOverAllRanks) {
  const auto errors = run_communicators(3, [](Communicator& ranks) {
    const double mine = ranks.rank() + 1;
    auto tensor = torch::arange(1000, torch::kFloat32) * mine;
    ranks.sum(tensor);
    EXPECT_TRUE(torch::equal(tensor, torch::arange(1000, torch::kFloat32) * 6));
    std::vector<double> numbers = {mine, 1e17 * mine, 0.1};
    ranks.sum(numbers);
    EXPECT_EQ(numbers, (std::vector<double>{6, 6e17, 0.1 + 0.1 + 0.1}));
    auto theirs = torch::full({}, mine);
    ranks.broadcast(theirs);
    EXPECT_EQ(theirs.item<double>(), 1);
    EXPECT_EQ(ranks.broadcast(join_text("rank ", ranks.rank())), "rank 0");
    const std::string more_than_the_store_takes(9'000'000, static_cast<char>('0' + ranks.rank()));
    EXPECT_EQ(ranks.broadcast(more_than_the_store_takes), std::string(9'000'000, '0'));
    EXPECT_EQ(ranks.gather(std::to_string(ranks.rank())),
              (std::vector<std::string>{"0", "1", "2"}));
    const std::vector<std::int64_t> numbers_of_each(static_cast<std::size_t>(ranks.rank()),
                                                    10 + ranks.rank());
    EXPECT_EQ(ranks.gather(numbers_of_each), (std::vector<std::int64_t>{11, 12, 12}));
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(Communicator, ANumberThatIsNotFiniteOnOneRankIsSoOnAll) {
  const auto errors = run_communicators(2, [](Communicator& ranks) {
    auto tensor = torch::ones(5);
    if (ranks.rank() == 1) tensor[3] = std::nan("");
    ranks.sum(tensor);
    EXPECT_FALSE(std::isfinite(tensor.norm().item<double>()));
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(Communicator, SumsMayBeMadeWhileTheCallerComputesOn) {
  const auto errors = run_communicators(3, [](Communicator& ranks) {
    for (int round = 0; round < 3; ++round) {
      std::vector<torch::Tensor> tensors;
      for (int i = 0; i < 20; ++i) {
        tensors.push_back(torch::full({100 * i + 1}, (ranks.rank() + 1) * (i + 0.5)));
        ranks.begin_sum(tensors.back());
      }
      ranks.finish_sums();
      for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(tensors[static_cast<std::size_t>(i)].eq(6 * (i + 0.5)).all().item<bool>());
      ranks.wait_for_all();
    }
  });
  EXPECT_THAT(errors, Each(std::string()));
}

TEST(Communicator, ARankThatIsLostWhileSumsAreMadeIsNamed) {
  const auto errors = run_communicators(2, [](Communicator& ranks) {
    std::vector<torch::Tensor> tensors(10);
    for (int i = 0; i < (ranks.leads() ? 10 : 4); ++i)
      ranks.begin_sum(tensors[static_cast<std::size_t>(i)] = torch::ones(1000));
    if (!ranks.leads()) ranks.give_up("memory has run out");
    ranks.finish_sums();
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1 (host "));
  EXPECT_THAT(errors[0], Names("stopped ... memory"));
}

TEST(Communicator, ARankMayEndWithItsSumsUnfinished) {
  const auto errors = run_communicators(2, [](Communicator& ranks) {
    if (ranks.leads()) throw Error("a fault in the backward pass");
    ranks.begin_sum(torch::ones(1000));
    throw Error("another");
  });
  EXPECT_EQ(errors, (std::vector<std::string>{"a fault in the backward pass", "another"}));
}

TEST(Communicator, RanksThatMakeDifferentCallsHaveParted) {
  using Call = std::function<void(Communicator & ranks)>;
  const auto sum_of = [](std::size_t count) {
    return [count](Communicator& ranks) {
      std::vector<double> numbers(count, 1);
      ranks.sum(numbers);
    };
  };
  const Call numbers = [](Communicator& ranks) { ranks.gather(std::vector<std::int64_t>(3)); };
  const Call text = [](Communicator& ranks) { ranks.gather(std::string(24, 'x')); };
  const Call tensor = [](Communicator& ranks) {
    auto ones = torch::ones(3);
    ranks.sum(ones);
  };
  const std::vector<std::pair<Call, Call>> pairs = {
      {sum_of(3), sum_of(6)}, {sum_of(3), numbers}, {numbers, text}, {text, tensor}};
  for (const auto& [first, second] : pairs)
    EXPECT_THAT(
        run_communicators(2, [&](Communicator& ranks) { (ranks.leads() ? first : second)(ranks); }),
        Each(HasSubstr("computations have diverged")));
}

TEST(Communicator, ARankThatGivesUpIsNamedWhateverTheOthersWaitFor) {
  const auto errors = run_communicators(3, [](Communicator& ranks) {
    ranks.wait_for_all();
    if (ranks.rank() == 1) {
      ranks.give_up("b.en: no such file");
      return;
    }
    auto tensor = torch::ones(5);
    ranks.sum(tensor);
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1 (host "));
  EXPECT_THAT(errors[0], Names("stopped ... b.en"));
  EXPECT_EQ(errors[0], errors[2]);
}

TEST(Communicator, WaitingStopsOnASignalAndWhenARankIsLost) {
  const auto errors = run_communicators(2, [](Communicator& ranks) {
    std::stop_source signal;
    const std::stop_token stop = ranks.stop_token(signal.get_token());
    EXPECT_FALSE(stop.stop_requested());
    ranks.wait_for_all();  // rank 0 may come later than rank 1 gives up
    if (ranks.rank() == 1) {
      signal.request_stop();
      EXPECT_TRUE(stop.stop_requested());
      ranks.give_up("stopped");
      return;
    }
    while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(signal.stop_requested());
  });
  EXPECT_THAT(errors, Each(std::string()));
}

}  // namespace
}  // namespace dragoman
