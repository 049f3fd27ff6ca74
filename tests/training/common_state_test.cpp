#include "training/common_state.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/free_port.h"
#include "tests/training/ranks/ranks.h"
#include "tests/training/small_batches.h"

namespace dragoman {
namespace {

using testing::Each;
using testing::HasSubstr;

std::vector<std::string> run_two_ranks(const std::function<void(Communicator& ranks)>& work) {
  const int port = free_port();
  return run_ranks(2, [&](int rank) {
    at::set_num_threads(1);
    Communicator ranks(info_on_loopback(rank, 2, port), 5);
    work(ranks);
  });
}

TEST(CommonState, AllRanksHaveTheWeightsAndTheRecordOfRank0) {
  EXPECT_THAT(run_two_ranks([](Communicator& ranks) {
                const auto seed = static_cast<std::uint64_t>(ranks.rank());
                TrainingModel model(small_config(0), {}, Precision::Fp32, torch::kCPU, seed);
                ProgressRecord progress;
                progress.update = 10 + ranks.rank();
                progress.part_tokens = 100 * ranks.rank();
                share_state(ranks, model, progress);
                TrainingModel of_rank_0(small_config(0), {}, Precision::Fp32, torch::kCPU, 0);
                EXPECT_TRUE(torch::equal(model.weights(), of_rank_0.weights()));
                EXPECT_EQ(progress.update, 10);
                EXPECT_EQ(progress.part_tokens, 100 * ranks.rank()) << "its own";
              }),
              Each(""));
}

TEST(CommonState, AllRanksGetTheAnswerAndTheRecordOfRank0) {
  EXPECT_THAT(run_two_ranks([](Communicator& ranks) {
                ProgressRecord progress;
                for (const bool answer : {true, false}) {
                  EXPECT_EQ(on_rank_0(ranks, progress,
                                      [&] {
                                        EXPECT_TRUE(ranks.leads());
                                        ++progress.validated_update;
                                        return answer;
                                      }),
                            answer);
                }
                EXPECT_EQ(progress.validated_update, 2);
              }),
              Each(""));
}

TEST(CommonState, OneRankThatIsToStopStopsAll) {
  EXPECT_THAT(run_two_ranks([](Communicator& ranks) {
                const StopAndClock agreed =
                    stop_and_clock_of_all(ranks, ranks.rank() == 1, 4 + ranks.rank());
                EXPECT_TRUE(agreed.stop);
                EXPECT_EQ(agreed.seconds, 4.5);
              }),
              Each(""));
}

TEST(CommonState, RanksHavePartedWhereOnlyOneLeavesAnUpdateOut) {
  for (const int left_out_by : {0, 1})
    EXPECT_THAT(run_two_ranks([left_out_by](Communicator& ranks) {
                  if (ranks.rank() == left_out_by)
                    ranks.gather(std::vector<std::int64_t>{4, 5, 6});  // its sentences
                  else
                    stop_and_clock_of_all(ranks, false, 0);
                }),
                Each(HasSubstr("computations have parted")));
}

TEST(CommonState, LossesAreSummedOverAllRanks) {
  EXPECT_THAT(run_two_ranks([](Communicator& ranks) {
                const double mine = 1 + ranks.rank();
                const auto own = torch::tensor({mine, 2.0, mine, 1.0}, torch::kFloat64);
                const BatchLoss sums = sum_over_ranks(ranks, {own, 5, 7}).read();
                EXPECT_EQ(sums.smoothed, 3);
                EXPECT_EQ(sums.negative_log_likelihood, 4);
                EXPECT_EQ(sums.source_tokens, 10);
                EXPECT_EQ(sums.target_tokens, 14);
                EXPECT_EQ(sums.alignment, 3);
                EXPECT_EQ(sums.linked_tokens, 2);
              }),
              Each(""));
}

}  // namespace
}  // namespace dragoman
