// The choices that need no validation, and an average that cannot be saved;
// tests/training/trainer_test has the rest.
#include "training/model_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "tests/names.h"
#include "tests/training/small_run.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ModelSelectionTest : public RunWithoutText {
 protected:
  void save(const std::filesystem::path& path, std::int64_t update) {
    ModelAttachments attachments = run.attachments;
    attachments.provenance.updates = update;
    write_weights(path, model, torch::full_like(model.weights(), update), attachments);
  }
  std::int64_t updates_of_model() const {
    return ModelFileReader(run.folder.model()).provenance().updates;
  }

  ModelSelection selection{run, model, log, observer};
};

TEST_F(ModelSelectionTest, WithoutAValidationTextTheLastWeightsAreTaken) {
  EXPECT_FALSE(selection.validates());
  progress.update = 7;
  model.weights().fill_(7);
  selection.take_last_weights(progress);
  EXPECT_EQ(weight_in(run.folder.model()), 7);
  EXPECT_EQ(updates_of_model(), 7);
  EXPECT_THAT(ModelFileReader(run.folder.model()).provenance().scores, IsEmpty());
}

TEST_F(ModelSelectionTest, AModelThatIsThereStays) {
  save(run.folder.model(), 3);
  save(run.folder.best(), 4);
  selection.restore_if_lost(progress);
  EXPECT_EQ(updates_of_model(), 3);
  EXPECT_THAT(observer.warnings, IsEmpty());
}

TEST_F(ModelSelectionTest, ALostModelIsMadeAgainFromTheBest) {
  save(run.folder.at_update(100), 100);
  save(run.folder.best(), 4);
  write_file(run.folder.model(), "damaged");
  selection.restore_if_lost(progress);
  EXPECT_EQ(weight_in(run.folder.model()), 4);
  EXPECT_THAT(observer.warnings,
              ElementsAre(Names("missing or damaged ... " + run.folder.best().string())));
}

TEST_F(ModelSelectionTest, WithoutTheBestTheModelIsMadeFromItsCheckpointOrTheNewest) {
  for (const std::int64_t update : {100, 200, 300}) save(run.folder.at_update(update), update);
  progress.best = {.update = 200, .value = 30, .loss = 2};
  selection.restore_if_lost(progress);
  EXPECT_EQ(weight_in(run.folder.model()), 200);
  EXPECT_EQ(updates_of_model(), 200);

  std::filesystem::remove(run.folder.model());
  write_file(run.folder.at_update(200), "damaged");
  selection.restore_if_lost(progress);
  EXPECT_EQ(weight_in(run.folder.model()), 300);
}

TEST_F(ModelSelectionTest, WithoutAnySourceTheRunFails) {
  write_file(run.folder.at_update(100), "damaged");
  EXPECT_THAT(message_of<Error>([&] { selection.restore_if_lost(progress); }),
              Names("missing or damaged ... every checkpoint"));
}

TEST_F(ModelSelectionTest, OneCheckpointIsNotAveraged) {
  EXPECT_FALSE(
      selection.take_average_if_better({.weights = model.weights(), .names = {"a"}}, progress, {}));
  EXPECT_FALSE(std::filesystem::exists(run.folder.model()));
}

using AverageTest = SmallRun;

TEST_F(AverageTest, AnAverageThatCannotBeSavedLeavesTheModelAndTheRecordAsTheyWere) {
  const TrainingRun run = run_in("average");
  create_folders(run.folder.checkpoints());
  TrainingModel model(run.model, {}, Precision::Fp32, torch::kCPU, 1);
  RecordingObserver observer;
  RunLog log(run.folder, observer);
  ModelSelection selection(run, model, log, observer);
  ProgressRecord progress;
  progress.update = 6;
  const CheckpointMean mean{.weights = model.weights().clone(), .names = {"a", "b"}};
  // A folder stands where the second file should go.
  for (const auto& file : {run.folder.best(), run.folder.model()}) {
    std::filesystem::create_directories(file);
    EXPECT_FALSE(selection.take_average_if_better(mean, progress, {}));
    EXPECT_THAT(observer.warnings, ElementsAre(Names("average not saved ... best checkpoint")));
    EXPECT_THAT(observer.notices, ElementsAre(Names("best checkpoint")));
    EXPECT_FALSE(std::filesystem::is_regular_file(run.folder.model()));
    EXPECT_FALSE(progress.best.exists());
    std::filesystem::remove(file);
    observer.warnings.clear();
    observer.notices.clear();
  }
  EXPECT_TRUE(selection.take_average_if_better(mean, progress, {}));
  EXPECT_THAT(observer.notices, ElementsAre(Names("kept")));
  EXPECT_EQ(progress.best.update, 6);
  EXPECT_EQ(read_file(run.folder.model()), read_file(run.folder.best()));
}

using CorpusLossesTest = SmallRun;

TEST_F(CorpusLossesTest, TheLossOfAFileIsThatOfItsPairs) {
  DataConfig config = data_config();
  config.train_source.push_back(*folder_ / "test.en");
  config.train_target.push_back(*folder_ / "test.de");
  const PreparedData two = prepare(config);
  TrainingModel model(run_in("losses", two).model, {}, Precision::Fp32, torch::kCPU, 1);
  const auto losses = CorpusLosses(two).run(model, model.weights());
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[1].name, config.train_source[1]);
  std::vector<std::uint32_t> pairs(static_cast<std::size_t>(two.sections[1].pairs));
  std::iota(pairs.begin(), pairs.end(), two.sections[1].first_pair);
  const PackedBatch batch = pack_batch(two.train, pairs, end_ids(two.tokenizers));
  const BatchLoss all = model.evaluate(batch);
  EXPECT_NEAR(losses[1].loss, all.negative_log_likelihood / static_cast<double>(all.target_tokens),
              1e-5);
  EXPECT_NE(losses[0].loss, losses[1].loss);
  EXPECT_TRUE(CorpusLosses(*data_).run(model, model.weights()).empty()) << "one file";
}

}  // namespace
}  // namespace dragoman
