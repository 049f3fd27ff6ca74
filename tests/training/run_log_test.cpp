#include "training/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/folder_test.h"
#include "tests/log_entries.h"
#include "tests/names.h"
#include "tests/training/small_run.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// ---- the interval of a line ---------------------------------------------------------------------

TEST(LogInterval, MeansAndSpeedsAreThoseSinceTheIntervalBegan) {
  LogInterval interval;
  interval.begin(100, 7);
  EXPECT_TRUE(interval.empty());
  interval.add(
      {.smoothed = 60, .negative_log_likelihood = 40, .source_tokens = 30, .target_tokens = 10}, 1);
  interval.add(
      {.smoothed = 20, .negative_log_likelihood = 20, .source_tokens = 30, .target_tokens = 10}, 3);
  EXPECT_FALSE(interval.empty());
  const IntervalMeans means = interval.means(104, 8);
  EXPECT_EQ(means.loss, 4);
  EXPECT_EQ(means.perplexity, std::exp(3.0));
  EXPECT_EQ(means.gradient_norm, 2);
  EXPECT_EQ(means.source_tokens_per_second, 15);
  EXPECT_EQ(means.target_tokens_per_second, 5);
  EXPECT_EQ(means.data_wait, 0.25);
  EXPECT_FALSE(means.alignment_loss) << "no target token had a link";
  interval.begin(104, 8);
  EXPECT_TRUE(interval.empty());
}

TEST(LogInterval, TheSpeedIsThatOfTrainingAlone) {
  LogInterval interval;
  interval.begin(0, 0);
  interval.add({.source_tokens = 10, .target_tokens = 10, .alignment = 6, .linked_tokens = 3}, 1);
  interval.exclude_seconds(3);
  EXPECT_EQ(interval.means(5, 0).target_tokens_per_second, 5);
  EXPECT_EQ(interval.means(5, 0).alignment_loss, 2);
}

// ---- the log ------------------------------------------------------------------------------------

class RunLogTest : public FolderTest {
 protected:
  std::vector<nlohmann::json> lines() const { return log_entries(run.log()); }
  std::vector<std::string> types() const {
    std::vector<std::string> types;
    for (const auto& line : lines()) types.push_back(line.at("type"));
    return types;
  }
  std::size_t event_files() const {
    const std::filesystem::directory_iterator all(run.tensorboard());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  const RunFolder run{folder};
  RecordingObserver observer;
};

TEST_F(RunLogTest, BeforeTheLogIsOpenNothingIsWritten) {
  RunLog log(run, observer);
  log.logged({.update = 1});
  log.rolled_back(1, {});
  EXPECT_EQ(log.sync(), std::nullopt);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(RunLogTest, EachStartSaysItsSettingsAndCutsOffLinesAfterItsCheckpoint) {
  ProgressRecord progress;
  progress.start.values = {{"lr", "0.005"}, {"train-src", "\xE9.en"}};
  {
    RunLog log(run, observer);
    log.open(progress, 123);
    log.logged({.update = 1});
    progress.update = 1;
    progress.log_bytes = log.sync().value();
    EXPECT_EQ(progress.log_bytes, std::filesystem::file_size(run.log()));
    log.logged({.update = 2});
  }
  RunLog log(run, observer);
  log.open(progress, 123);
  EXPECT_THAT(types(), ElementsAre("start", "update", "start"));
  const auto start = lines().back();
  EXPECT_EQ(start.at("after_update"), 1);
  EXPECT_EQ(start.at("parameters"), 123);
  EXPECT_EQ(start.at("settings").at("lr"), "0.005");
  EXPECT_EQ(event_files(), 2U);
  EXPECT_THAT(observer.warnings, IsEmpty());
}

TEST_F(RunLogTest, AValidationHasItsSamplesAndTheTextToKeep) {
  Scores scores;
  scores.valid.bleu = 12.5;
  scores.valid.parts = {{.name = "a", .bleu = 20, .chrf = 40}, {.name = "b", .bleu = 50}};
  scores.corpora = {{.name = "t.en", .loss = 1.5}, {.name = "\xE9.en", .loss = 2}};
  scores.keep.emplace().bleu = 40;
  scores.keep_has_fallen = true;
  scores.valid.attention = {.source = {"a", "</s>"}, .target = {"b"}, .weights = {0.25F, 0.75F}};
  RunLog log(run, observer);
  log.open({}, 1);
  log.validated({.update = 7,
                 .scores = scores,
                 .new_best = true,
                 .samples = {{.source = "a", .translation = "b", .reference = "c"}}});
  const auto line = lines().back();
  EXPECT_EQ(line.at("update"), 7);
  EXPECT_EQ(line.at("bleu"), 12.5);
  EXPECT_EQ(line.at("best"), true);
  EXPECT_EQ(line.at("mean_bleu"), 35);
  EXPECT_EQ(line.at("texts").at(0).at("name"), "a");
  EXPECT_EQ(line.at("texts").at(0).at("chrf"), 40);
  EXPECT_EQ(line.at("texts").at(1).at("bleu"), 50);
  EXPECT_EQ(line.at("corpora").at(0).at("name"), "t.en");
  EXPECT_EQ(line.at("corpora").at(1).at("loss"), 2);
  EXPECT_EQ(line.at("keep_bleu"), 40);
  EXPECT_EQ(line.at("keep_has_fallen"), true);
  EXPECT_EQ(json_text(line.at("attention")),
            R"({"source":["a","</s>"],"target":["b"],"weights":[[0.25,0.75]]})");
  EXPECT_EQ(json_text(line.at("samples")), R"([{"reference":"c","source":"a","translation":"b"}])");
}

TEST_F(RunLogTest, TheLogSaysWhichStageHasBegunAndWhy) {
  RunLog log(run, observer);
  log.open({}, 1);
  log.logged({.update = 10});
  log.logged({.update = 20, .stage = 1});
  ProgressRecord progress;
  progress.update = 20;
  progress.stage = {.number = 1, .first_epoch = 3};
  log.began_stage(StageEnd::Patience, progress);
  const auto all = lines();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_FALSE(all[1].contains("stage"));
  EXPECT_EQ(all[2].at("stage"), 1);
  EXPECT_EQ(
      all[3],
      (nlohmann::json{
          {"type", "stage"}, {"update", 20}, {"stage", 2}, {"epoch", 4}, {"reason", "patience"}}));
}

TEST_F(RunLogTest, AnUpdateThatWasLeftOutHasAReason) {
  RunLog log(run, observer);
  log.open({}, 1);
  log.left_out({.update = 5, .loss = 90, .gradient_norm = 7, .lines = {3, 8}});
  EXPECT_EQ(lines().back().at("reason"), "spike");
  EXPECT_EQ(lines().back().at("lines"), (std::vector<int>{3, 8}));
  log.left_out({.update = 6, .loss = std::numeric_limits<double>::infinity(), .gradient_norm = 1});
  EXPECT_EQ(lines().back().at("reason"), "not finite");
}

TEST_F(RunLogTest, ARollbackBeginsAnotherEventFile) {
  RunLog log(run, observer);
  log.open({}, 1);
  ProgressRecord progress;
  progress.update = 100;
  progress.rate_factor = 0.5;
  log.rolled_back(170, progress);
  EXPECT_THAT(types(), ElementsAre("start", "rollback"));
  EXPECT_EQ(lines().back().at("to_update"), 100);
  EXPECT_EQ(event_files(), 2U);
}

TEST_F(RunLogTest, AFullDiskCostsLinesAndIsWarnedAbout) {
  RunLog log(run, observer);
  log.open({}, 1);
  const std::string before = read_file(run.log());
  rlimit unlimited{};  // a limit on the size of files stands for a full disk
  getrlimit(RLIMIT_FSIZE, &unlimited);
  const rlimit full{1, unlimited.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  log.logged({.update = 1});
  setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(observer.warnings, ElementsAre(Names("log.jsonl ... cannot write"),
                                             Names("tensorboard ... cannot write")));
  EXPECT_EQ(read_file(run.log()), before);
  log.logged({.update = 2});
  EXPECT_EQ(lines().back().at("update"), 2);
}

TEST_F(RunLogTest, EventFilesThatCannotBeMadeCostNoLine) {
  write("tensorboard", "a file stands here");
  RunLog log(run, observer);
  log.open({}, 1);
  EXPECT_THAT(observer.warnings, ElementsAre(Names("TensorBoard's ... not saved")));
  log.logged({.update = 1});
  EXPECT_THAT(types(), ElementsAre("start", "update"));
}

// ---- TensorBoard --------------------------------------------------------------------------------

// tests/system/tensorboard.py reads event files with the real TensorBoard.
class EventFiles : public FolderTest {
 protected:
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(events_))
      found.insert(entry.path().filename().string());
    return found;
  }

  const std::filesystem::path events_ = folder / "events";
};

TEST(Crc32c, TheChecksumIsThatOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST_F(EventFiles, EachStartHasAFileThatSortsAfterTheOthers) {
  std::string last;
  for (std::size_t start = 1; start <= 3; ++start) {
    const EventFile file(events_, 1);
    ASSERT_EQ(names().size(), start);
    EXPECT_GT(*names().rbegin(), last);
    last = *names().rbegin();
    EXPECT_NE(last.find("tfevents"), std::string::npos);
  }
}

TEST_F(EventFiles, EventsHoldTheNumbersAndTextsOfALine) {
  EventFile file(events_, 1);
  const auto bytes = [this] { return read_file(events_ / *names().begin()); };
  const std::string before = bytes();
  EXPECT_TRUE(file.append({{"type", "start"}, {"parameters", 3}}));
  EXPECT_EQ(bytes(), before);  // of no update
  EXPECT_TRUE(file.append({{"type", "validation"},
                           {"update", 7},
                           {"bleu", 1.5},
                           {"best", true},
                           {"samples", {{{"source", "a"}, {"translation", "b"}}}}}));
  const std::string added = bytes().substr(before.size());
  EXPECT_NE(added.find("valid/bleu"), std::string::npos);
  EXPECT_EQ(added.find("valid/best"), std::string::npos);
  EXPECT_EQ(added.find("valid/update"), std::string::npos);
  EXPECT_NE(added.find("    source: a\n    translation: b\n"), std::string::npos);
}

TEST_F(EventFiles, AFolderThatCannotBeMadeIsAnError) {
  write_file(events_, "a file stands here");
  EXPECT_THROW(EventFile(events_, 1), Error);
}

}  // namespace

}  // namespace dragoman
