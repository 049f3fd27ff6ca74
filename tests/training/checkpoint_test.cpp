#include "training/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/names.h"
#include "tests/test_device.h"
#include "tests/training/small_run.h"
#include "tests/training/whole_batch.h"

namespace dragoman {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// ---- files --------------------------------------------------------------------------------------

TEST(Checkpoint, AResumedModelContinuesBitIdentically) {
  const ScratchFolder folder(testing::TempDir() + "checkpoint-");
  const std::filesystem::path path = folder.path() / "checkpoint.safetensors";
  for (const Precision precision : {Precision::Fp32, Precision::Bf16}) {
    const auto update = [](TrainingModel& model, std::int64_t u) {
      const auto sums = accumulate(model, batch_of({u, u + 7}), {.label_smoothing = 0.1}, u);
      model.step({.loss = sums, .learning_rate = 1e-3, .clip_norm = 1});
    };
    TrainingModel straight(small_config(0.2), {}, precision, test_device(), 1);
    straight.keep_moving_average(0.9);
    for (int u = 1; u <= 3; ++u) update(straight, u);
    ProgressRecord progress;
    progress.update = 3;
    progress.start.values = {{"lr", "0.001"}};
    write_checkpoint(path, straight, {.tokenizer_source = "pieces"}, progress);
    // Its parameters are what the run would give.
    EXPECT_TRUE(torch::equal(load_flat_weights(path, straight.layout(), test_device()),
                             straight.result_weights()));
    for (int u = 4; u <= 6; ++u) update(straight, u);

    EXPECT_EQ(progress_from_json(ModelFileReader(path).progress()), progress);
    // The seed belongs to the configuration, so the resumed model has the same one.
    TrainingModel resumed(small_config(0.2), {}, precision, test_device(), 1);
    resumed.keep_moving_average(0.9);
    load_checkpoint(path, resumed);
    for (int u = 4; u <= 6; ++u) update(resumed, u);
    EXPECT_TRUE(torch::equal(straight.weights(), resumed.weights()));
    EXPECT_TRUE(torch::equal(straight.result_weights(), resumed.result_weights()));
  }
}

TEST(Checkpoint, AFailureOfTheFileSystemIsReportedAndDoesNotEndTheRun) {
  RecordingObserver observer;
  const auto fails = [] {
    std::filesystem::create_directory("/no/such/folder");  // not our own Error
  };
  EXPECT_FALSE(try_to_save("checkpoint", "the next one may succeed", observer, fails));
  ASSERT_EQ(observer.warnings.size(), 1U);
  EXPECT_THAT(observer.warnings.front(), Names("checkpoint not saved"));
  EXPECT_TRUE(try_to_save("checkpoint", "", observer, [] {}));
}

// ---- the keeper ---------------------------------------------------------------------------------

class CheckpointKeeperTest : public RunWithoutText {
 protected:
  /// The model's weights are the number of the update.
  void reach(std::int64_t update) {
    progress.update = update;
    progress.history.updates = update;
    model.weights().fill_(static_cast<double>(update));
  }
  void save_at(std::int64_t update) {
    reach(update);
    keeper.save_if_due(progress);
  }

  CheckpointKeeper keeper{run, model, log, observer};
};

TEST_F(CheckpointKeeperTest, CheckpointsAreSavedOnceAtMultiplesOfSaveEvery) {
  save_at(99);
  EXPECT_THAT(checkpoints(), IsEmpty());
  EXPECT_FALSE(keeper.has_numbered(100));
  save_at(100);
  EXPECT_THAT(checkpoints(), ElementsAre("update-00000100"));
  EXPECT_TRUE(keeper.has_numbered(100));
  std::filesystem::remove(run.folder.at_update(100));
  save_at(100);
  EXPECT_THAT(checkpoints(), IsEmpty());
}

TEST_F(CheckpointKeeperTest, TheNewestAndThoseThatARollbackMayNeedAreKept) {
  run.config.keep_last = 1;
  keeper.save_start(progress);
  save_at(100);
  EXPECT_THAT(checkpoints(), ElementsAre("start", "update-00000100"));
  save_at(200);
  EXPECT_THAT(checkpoints(), ElementsAre("update-00000100", "update-00000200"));
  progress.history.left_out_in_a_row = 1;  // what follows may be the beginning of a divergence
  save_at(300);
  save_at(400);
  EXPECT_THAT(checkpoints(), ElementsAre("update-00000200", "update-00000400"));
}

TEST_F(CheckpointKeeperTest, ARollbackNeedsFewOfManyCheckpoints) {
  run.config.keep_last = run.config.save_every = 1;
  keeper.save_start(progress);
  for (std::int64_t update = 1; update <= 30; ++update) save_at(update);
  EXPECT_THAT(checkpoints(),
              ElementsAre("start", "update-00000010", "update-00000020", "update-00000030"));
}

TEST_F(CheckpointKeeperTest, ANewCheckpointIsKeptBesideADamagedOneOfAHigherNumber) {
  run.config.keep_last = 1;
  keeper.save_start(progress);
  write_file(run.folder.at_update(900), "damaged");
  progress.history.left_out_in_a_row = 1;  // not sound, so no rollback needs it
  save_at(100);
  EXPECT_THAT(checkpoints(), Contains("update-00000100"));
}

TEST_F(CheckpointKeeperTest, TheClockSavesForAResume) {
  save_at(7);
  EXPECT_THAT(checkpoints(), IsEmpty());
  run.config.save_minutes = 1e-12;
  save_at(8);
  EXPECT_THAT(checkpoints(), ElementsAre("latest"));
  keeper.remove_latest();
  EXPECT_THAT(checkpoints(), IsEmpty());
}

TEST_F(CheckpointKeeperTest, TheRecordKnowsTheLengthOfTheLog) {
  log.open(progress, 1);
  save_at(100);
  const auto found = find_checkpoint_to_resume(run.folder, [](const std::string&) { FAIL(); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->progress.log_bytes, std::filesystem::file_size(run.folder.log()));
}

TEST_F(CheckpointKeeperTest, ACheckpointThatCannotBeSavedIsWarnedAboutAndTriedAgain) {
  std::filesystem::remove_all(run.folder.checkpoints());
  save_at(100);
  EXPECT_THAT(observer.warnings, ElementsAre(Names("checkpoint not saved")));
  create_folders(run.folder.checkpoints());
  save_at(100);
  EXPECT_THAT(checkpoints(), ElementsAre("update-00000100"));
  std::filesystem::remove_all(run.folder.checkpoints());
  EXPECT_THROW(keeper.save_latest(progress), Error) << "the last state of a run";
}

TEST_F(CheckpointKeeperTest, AResumePutsTheWeightsBackAndKnowsTheCheckpoint) {
  save_at(100);
  save_at(200);
  reach(250);
  keeper.save_latest(progress);
  model.weights().fill_(0);
  CheckpointKeeper other(run, model, log, observer);
  const auto at = [&](const std::filesystem::path& path, std::int64_t update) {
    FoundCheckpoint found{path, progress};
    found.progress.update = update;
    return found;
  };
  other.resume(at(run.folder.latest(), 250));
  EXPECT_EQ(model.weights().max().item<double>(), 250);
  EXPECT_FALSE(other.has_numbered(250));
  other.resume(at(run.folder.at_update(100), 100));
  EXPECT_EQ(model.weights().max().item<double>(), 100);
  EXPECT_TRUE(other.has_numbered(100));
}

TEST_F(CheckpointKeeperTest, ARollbackGoesToTheLastSoundCheckpoint) {
  log.open(progress, 1);
  keeper.save_start(progress);
  save_at(100);
  save_at(200);
  reach(230);  // the trouble may have begun before update 200
  progress.left_out = 3;
  progress.best = {.update = 200, .value = 30, .loss = 2};
  progress.rate_factor = 0.5;
  keeper.roll_back(progress);
  EXPECT_EQ(progress.update, 100);
  EXPECT_EQ(progress.returned_to, 100);
  EXPECT_EQ(progress.rollbacks, 1);
  EXPECT_EQ(progress.rate_factor, 0.25);
  EXPECT_EQ(progress.left_out, 3);
  EXPECT_EQ(progress.best.update, 200);
  EXPECT_EQ(model.weights().max().item<double>(), 100);
  EXPECT_TRUE(keeper.has_numbered(100));
  EXPECT_THAT(checkpoints(), ElementsAre("latest", "update-00000100"));
  EXPECT_THAT(observer.warnings, ElementsAre(Names("rolled back ... update 100")));
  EXPECT_THAT(read_file(run.folder.log()), HasSubstr("\"type\":\"rollback\",\"update\":230"));
}

TEST_F(CheckpointKeeperTest, ACheckpointThatProvesTooNearIsLeftForAnEarlierOne) {
  keeper.save_start(progress);
  save_at(100);
  reach(160);
  keeper.roll_back(progress);
  EXPECT_EQ(progress.update, 100);
  reach(120);  // less than 50 updates after it
  keeper.roll_back(progress);
  EXPECT_EQ(progress.update, 0);
  EXPECT_EQ(progress.rollbacks, 2);
}

TEST_F(CheckpointKeeperTest, ARollbackKeepsTheFactsOfThisStart) {
  progress.start = {
      .machine = {.ranks = 2, .precision = "fp32", .threads = "8", .processor = "there"},
      .file_hashes = {{"old/train.en", "0123"}}};
  save_at(100);
  const StartRecord now{
      .machine = {.ranks = 1, .precision = "bf16", .threads = "4", .processor = "here"},
      .file_hashes = {{"new/train.en", "0123"}}};
  progress.start = now;
  progress.seconds = 77;
  reach(160);
  keeper.roll_back(progress);
  EXPECT_EQ(progress.update, 100);
  EXPECT_EQ(progress.seconds, 77);
  EXPECT_EQ(progress.start, now);
}

TEST_F(CheckpointKeeperTest, ACooldownThatWasCancelledStaysSoInARollback) {
  const auto cool_down = [this](std::int64_t start, std::int64_t end, StopReason limit) {
    progress.cooldown.begin = start;
    progress.cooldown.end = end;
    progress.cooldown.limit = limit;
  };
  cool_down(75, 200, StopReason::MaxEpochs);
  save_at(100);
  reach(160);
  keeper.roll_back(progress);
  EXPECT_EQ(progress.cooldown.end, 200) << "it continues";
  EXPECT_EQ(progress.cooldown.begin, 75);
  EXPECT_EQ(progress.cooldown.limit, StopReason::MaxEpochs);

  for (const std::int64_t later_end : {0, 400}) {  // none, or another one
    cool_down(75, 200, StopReason::MaxEpochs);
    save_at(300);
    cool_down(later_end == 0 ? 0 : 350, later_end, StopReason::MaxUpdates);
    reach(360);
    progress.rollbacks = 0;
    keeper.roll_back(progress);
    EXPECT_EQ(progress.update, 300);
    EXPECT_EQ(progress.cooldown.end, 0);
    EXPECT_EQ(progress.cooldown.begin, 0);
    std::filesystem::remove(run.folder.at_update(300));
    save_at(200);
  }
}

TEST_F(CheckpointKeeperTest, CheckpointsLeftByARollbackGoWithTheNextSaveAtTheLatest) {
  log.open(progress, 1);
  keeper.save_start(progress);
  save_at(100);
  save_at(200);
  progress.history.left_out_in_a_row = 1;  // the beginning of a divergence
  save_at(300);
  save_at(400);
  reach(420);
  std::filesystem::create_directories(run.folder.latest());  // so it cannot be saved
  keeper.roll_back(progress);
  EXPECT_EQ(progress.update, 200);
  EXPECT_THAT(checkpoints(), Contains("update-00000400"));
  save_at(300);
  EXPECT_THAT(checkpoints(), ElementsAre("update-00000200", "update-00000300"))
      << "a latest one may be from before the rollback, too";
  const auto found = find_checkpoint_to_resume(run.folder, [](const std::string&) { FAIL(); });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->progress.update, 300);
  EXPECT_EQ(found->progress.rollbacks, 1);
}

TEST_F(CheckpointKeeperTest, ARunThatCannotRollBackFails) {
  reach(60);
  EXPECT_THAT(message_of<Error>([&] { keeper.roll_back(progress); }),
              Names("no earlier checkpoint"));
  keeper.save_start(progress);
  run.config.max_rollbacks = 2;
  progress.rollbacks = 2;
  EXPECT_THAT(message_of<Error>([&] { keeper.roll_back(progress); }),
              HasSubstr("after 2 rollbacks"));
}

TEST_F(CheckpointKeeperTest, TheMeanIsOfTheNewestThatCanBeRead) {
  run.config.keep_last = 5;
  for (const std::int64_t update : {100, 200, 300, 400}) save_at(update);
  EXPECT_EQ(keeper.mean_of_last(2).weights.max().item<double>(), 350);
  write_file(run.folder.at_update(300), "damaged");
  const CheckpointMean mean = keeper.mean_of_last(2);
  EXPECT_EQ(mean.weights.max().item<double>(), 300);
  EXPECT_THAT(mean.names,
              ElementsAre("update-00000200.safetensors", "update-00000400.safetensors"));
  EXPECT_THAT(observer.warnings, ElementsAre(Names("left out ... average")));
}

}  // namespace

}  // namespace dragoman
