#include "training/trainer.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/folder_test.h"
#include "tests/free_port.h"
#include "tests/log_entries.h"
#include "tests/names.h"
#include "tests/training/ranks/ranks.h"
#include "tests/training/small_run.h"

namespace dragoman {

namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- the same state on all ranks ----------------------------------------------------------------

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

TEST(CommonState, RanksHavePartedIfOnlyOneLeavesAnUpdateOut) {
  for (const int left_out_by : {0, 1})
    EXPECT_THAT(run_two_ranks([left_out_by](Communicator& ranks) {
                  if (ranks.rank() == left_out_by)
                    ranks.gather(std::vector<std::int64_t>{4, 5, 6});  // its sentences
                  else
                    stop_and_clock_of_all(ranks, false, 0);
                }),
                Each(HasSubstr("computations have diverged")));
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

// ---- the run ------------------------------------------------------------------------------------

class TrainerTest : public SmallRun {
 protected:
  /// The named member of each entry of that type.
  static std::vector<std::int64_t> logged(const TrainingRun& run, const std::string& type,
                                          const std::string& member) {
    std::vector<std::int64_t> values;
    for (const auto& entry : log_entries(run.folder.log(), type))
      values.push_back(entry.at(member).get<std::int64_t>());
    return values;
  }

  /// A run whose second update has a loss that is not finite.
  static TrainingRun diverging(const std::string& name) {
    TrainingRun run = run_in(name);
    run.config.lr = 1e30;
    run.config.warmup_updates = 1;
    run.config.max_updates = 100;
    run.config.max_rollbacks = 1;
    return run;
  }
};

TEST_F(TrainerTest, AResumedRunIsTheSameToTheLastBit) {
  const TrainingRun straight = run_in("straight");
  RecordingObserver observer;
  EXPECT_EQ(train(straight, observer), StopReason::MaxUpdates);
  EXPECT_THAT(observer.warnings, IsEmpty());
  const ProgressRecord whole = progress_;

  TrainingRun in_two = run_in("in two");
  in_two.config.max_updates = 4;
  EXPECT_EQ(train(in_two, observer), StopReason::MaxUpdates);
  in_two.config.max_updates = 6;
  EXPECT_EQ(train(in_two, observer), StopReason::MaxUpdates);
  EXPECT_TRUE(torch::equal(weights_at(straight, 6), weights_at(in_two, 6)));
  EXPECT_EQ(progress_.history, whole.history);
  EXPECT_EQ(progress_.target_tokens, whole.target_tokens);
}

struct StopAtUpdate : RecordingObserver {
  explicit StopAtUpdate(std::int64_t last) {
    after_update = [this, last](std::int64_t update) {
      if (update == last) source.request_stop();
    };
  }
  std::stop_source source;
};

TEST_F(TrainerTest, AStopRequestEndsARunAfterTheUpdateAndLosesNothing) {
  const TrainingRun straight = run_in("not stopped"), stopped = run_in("stopped");
  RecordingObserver quiet;
  train(straight, quiet);

  StopAtUpdate observer(3);
  EXPECT_EQ(train(stopped, observer, observer.source.get_token()), StopReason::Requested);
  EXPECT_EQ(progress_.update, 3);
  EXPECT_THAT(observer.validated_updates, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(stopped.folder.latest()));

  EXPECT_EQ(train(stopped, observer), StopReason::MaxUpdates);
  EXPECT_TRUE(torch::equal(weights_at(straight, 6), weights_at(stopped, 6)));
  EXPECT_FALSE(std::filesystem::exists(stopped.folder.latest()));
  EXPECT_THAT(logged(stopped, "update", "update"), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(TrainerTest, ValidationsCheckpointsAndLinesOfTheLogComeWhenTheyAreDue) {
  TrainingRun run = run_in("due");
  run.config.valid_every = 2;
  run.config.save_every = 3;
  run.config.log_every = 4;
  run.config.average_last = 0;
  RecordingObserver observer;
  train(run, observer);
  EXPECT_THAT(observer.validated_updates, ElementsAre(2, 4, 6));
  EXPECT_THAT(observer.logged_updates, ElementsAre(4));
  EXPECT_THAT(logged(run, "validation", "update"), ElementsAre(2, 4, 6));
  EXPECT_THAT(logged(run, "update", "update"), ElementsAre(4));
  EXPECT_THAT(run.folder.numbered(), ElementsAre(run.folder.at_update(3), run.folder.at_update(6)));
}

TEST_F(TrainerTest, TheBestValidationIsTheModel) {
  TrainingRun run = run_in("best");
  run.config.best_metric = BestMetric::Loss;
  run.config.valid_every = 1;
  run.config.average_last = 0;
  RecordingObserver observer;
  train(run, observer);
  ASSERT_THAT(observer.best_updates, Contains(1));
  EXPECT_EQ(progress_.best.update, observer.best_updates.back());
  const ModelFileReader model(run.folder.model());
  EXPECT_EQ(model.provenance().updates, progress_.best.update);
  EXPECT_EQ(model.provenance().scores.at("valid-loss"), progress_.best.loss);
}

TEST_F(TrainerTest, TheLastRecordKnowsTheLastValidationAndAverage) {
  TrainingRun run = run_in("a checkpoint before the last validation");
  run.config.save_every = 2;
  run.config.valid_every = 4;
  RecordingObserver observer;
  train(run, observer);
  const auto saved = find_checkpoint_to_resume(run.folder, [](const std::string&) {});
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->progress.update, 6);
  EXPECT_EQ(saved->progress.validated_update, 6);
  EXPECT_EQ(saved->progress.averaged_update, 6);
  EXPECT_EQ(saved->progress.best, progress_.best);
}

TEST_F(TrainerTest, WithoutAValidationTextTheLastWeightsAreTheModel) {
  DataConfig without = data_config();
  without.valid_source = without.valid_target = {};
  const PreparedData data = prepare(without);
  const TrainingRun run = run_in("unvalidated", data);
  RecordingObserver observer;
  train(run, observer);
  EXPECT_THAT(observer.validated_updates, IsEmpty());
  EXPECT_TRUE(
      torch::equal(load_flat_weights(run.folder.model(), FlatLayout(run.model), torch::kCPU),
                   weights_at(run, 6)));
}

/// Requests a stop as soon as an average has been scored.
struct StopAtTheAverage : RecordingObserver {
  void noticed(const std::string& text) override {
    RecordingObserver::noticed(text);
    if (text.starts_with("average of")) source.request_stop();
  }
  std::stop_source source;
};

TEST_F(TrainerTest, AStopAtTheVeryEndScoresNoAverageTwice) {
  TrainingRun run = run_in("stopped at the average");
  run.config.best_metric = BestMetric::Loss;
  run.config.save_every = 3;
  run.config.average_last = 2;
  StopAtTheAverage observer;
  EXPECT_EQ(train(run, observer, observer.source.get_token()), StopReason::Requested);
  EXPECT_THAT(observer.notices, ElementsAre(Names("best checkpoint")));
  EXPECT_TRUE(std::filesystem::exists(run.folder.latest()));
}

TEST_F(TrainerTest, AStageEndsByPatienceAndInTheLastStageTheRunAlsoIfItIsResumed) {
  DataConfig config = data_config();
  config.train_source.push_back((*folder_ / "test.en").string());
  config.train_target.push_back((*folder_ / "test.de").string());
  config.mix = {"patience: 1 0", "1 1"};
  const PreparedData data = prepare(config);
  const auto stalled = [&](const std::string& name) {
    TrainingRun run = run_in(name, data);
    run.config.lr = 1e-30;  // the weights do not change, so no validation after the first gains
    run.config.valid_every = 1;
    run.config.patience = 2;
    run.config.max_updates = 100;
    return run;
  };
  const TrainingRun straight = stalled("stages");
  RecordingObserver observer;
  EXPECT_EQ(train(straight, observer), StopReason::Patience);
  EXPECT_THAT(observer.notices, Contains(Names("stage 1 of 2 ... 2 validations ... update 4")));
  EXPECT_EQ(progress_.update, 6);
  EXPECT_EQ(progress_.epoch, 1);
  EXPECT_EQ(progress_.stage, (StageState{.number = 1, .first_epoch = 1}));
  EXPECT_THAT(logged(straight, "update", "stage"), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(logged(straight, "stage", "update"), ElementsAre(3));
  const ProgressRecord whole = progress_;

  for (const std::int64_t stop : {2, 3, 4}) {
    const TrainingRun stopped = stalled(join_text("stages stopped at ", stop));
    StopAtUpdate until(stop);
    EXPECT_EQ(train(stopped, until, until.source.get_token()), StopReason::Requested);
    EXPECT_EQ(train(stopped, observer), StopReason::Patience);
    EXPECT_EQ(progress_.update, 6);
    EXPECT_EQ(progress_.stage, whole.stage);
    EXPECT_EQ(progress_.history, whole.history) << "the losses of the same batches";
    EXPECT_THAT(logged(stopped, "stage", "update"), ElementsAre(3));
  }
}

TEST_F(TrainerTest, ARunThatDivergesGoesBackWithHalfTheRateAndGivesUpInTheEnd) {
  const TrainingRun run = diverging("diverged");
  RecordingObserver observer;
  EXPECT_THAT(message_of<Error>([&] { train(run, observer); }), Names("update 11 ... 1 rollbacks"));
  EXPECT_THAT(observer.warnings, Contains(Names("update 2 ... loss")));
  EXPECT_THAT(observer.warnings, Contains(Names("rolled back ... update 0")));
  EXPECT_THAT(logged(run, "rollback", "to_update"), ElementsAre(0));
  const auto latest = find_checkpoint_to_resume(run.folder, [](const std::string&) { FAIL(); });
  ASSERT_TRUE(latest);
  EXPECT_EQ(latest->progress.rollbacks, 1);
  EXPECT_EQ(latest->progress.rate_factor, 0.5);
}

TEST_F(TrainerTest, AValidationWhoseLossIsNotFiniteIsADivergence) {
  TrainingRun run = diverging("diverged_validation");
  run.config.valid_every = 4;  // before ten updates in a row are left out
  RecordingObserver observer;
  EXPECT_THAT(message_of<Error>([&] { train(run, observer); }), Names("update 4 ... 1 rollbacks"));
  EXPECT_THAT(observer.warnings, Contains(Names("validation text ... not finite")));
  EXPECT_THAT(observer.warnings, Contains(Names("rolled back ... update 0")));
}

TEST_F(TrainerTest, ADivergenceThatTheLastValidationFindsIsRolledBack) {
  TrainingRun run = diverging("diverged_end");
  run.config.max_updates = 4;
  RecordingObserver observer;
  EXPECT_THAT(message_of<Error>([&] { train(run, observer); }), Names("update 4 ... 1 rollbacks"));
  EXPECT_THAT(observer.warnings, Contains(Names("validation text ... not finite")));
  EXPECT_THAT(observer.warnings, Contains(Names("rolled back ... update 0")));
}

/// The entries of the log without clocks and speeds.
std::vector<nlohmann::json> log_without_time(const TrainingRun& run) {
  std::vector<nlohmann::json> entries;
  for (const auto& entry : log_entries(run.folder.log())) {
    if (entry.at("type") == "start") continue;
    nlohmann::json kept;
    for (const char* member : {"type", "update", "loss", "gradient_norm", "lines", "to_update"})
      if (entry.contains(member)) kept[member] = entry.at(member);
    entries.push_back(kept);
  }
  return entries;
}

TEST_F(TrainerTest, UpdatesWhoseResultsAreReadLateAreTheSame) {
  const auto ahead = [](TrainingRun run) {
    run.updates_ahead = 4;
    return run;
  };
  TrainingRun in_turn = run_in("in turn");
  in_turn.config.max_updates = 21;
  in_turn.config.log_every = 10;
  in_turn.config.valid_every = 7;
  in_turn.config.save_every = 21;
  TrainingRun late = ahead(in_turn);
  late.config.output = late.folder.root = *folder_ / "late";
  RecordingObserver observer, late_observer;
  std::vector<std::int64_t> updates;
  late_observer.after_update = [&](std::int64_t update) { updates.push_back(update); };
  EXPECT_EQ(train(in_turn, observer), StopReason::MaxUpdates);
  const ProgressRecord whole = progress_;
  EXPECT_EQ(train(late, late_observer), StopReason::MaxUpdates);
  EXPECT_TRUE(torch::equal(weights_at(in_turn, 21), weights_at(late, 21)));
  EXPECT_EQ(progress_.history, whole.history);
  EXPECT_EQ(progress_.target_tokens, whole.target_tokens);
  EXPECT_EQ(progress_.update, whole.update);
  EXPECT_EQ(progress_.batch, whole.batch);
  EXPECT_EQ(late_observer.validated_updates, observer.validated_updates);
  EXPECT_EQ(late_observer.logged_updates, observer.logged_updates);
  EXPECT_EQ(updates.size(), 21u);
  EXPECT_TRUE(std::is_sorted(updates.begin(), updates.end()));
  EXPECT_EQ(log_without_time(late), log_without_time(in_turn));
}

TEST_F(TrainerTest, AStopAmongUpdatesWhoseResultsAreReadLateLosesNothing) {
  TrainingRun straight = run_in("late and straight"), stopped = run_in("late and stopped");
  for (TrainingRun* run : {&straight, &stopped}) {
    run->config.log_every = 100;
    run->updates_ahead = 4;
  }
  RecordingObserver quiet;
  train(straight, quiet);
  StopAtUpdate observer(1);
  EXPECT_EQ(train(stopped, observer, observer.source.get_token()), StopReason::Requested);
  EXPECT_EQ(progress_.update, 4);
  EXPECT_EQ(train(stopped, observer), StopReason::MaxUpdates);
  EXPECT_TRUE(torch::equal(weights_at(straight, 6), weights_at(stopped, 6)));
}

TEST_F(TrainerTest, ADivergenceThatIsReadLateIsTheSame) {
  const auto warnings = [this](const std::string& name, std::size_t updates_ahead) {
    TrainingRun run = diverging(name);
    run.config.log_every = 50;
    run.updates_ahead = updates_ahead;
    RecordingObserver observer;
    EXPECT_THAT(message_of<Error>([&] { train(run, observer); }),
                Names("update 11 ... 1 rollbacks"));
    std::vector<std::vector<std::int64_t>> facts = {logged(run, "rollback", "to_update"),
                                                    logged(run, "rollback", "update")};
    for (const std::string& warning : observer.warnings) {
      const auto update = warning.find("update ");
      facts.push_back({std::stoll(warning.substr(update + 7))});
    }
    return facts;
  };
  EXPECT_EQ(warnings("diverged late", 7), warnings("diverged at once", 1));
}

}  // namespace

}  // namespace dragoman
