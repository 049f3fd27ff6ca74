#include "training/run_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "tests/data/text_files.h"
#include "tests/training/recording_observer.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class RunLogTest : public FolderTest {
 protected:
  std::vector<nlohmann::json> lines() const {
    std::vector<nlohmann::json> lines;
    std::istringstream log(read_file(run.log()));
    for (std::string line; std::getline(log, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
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
  progress.start.settings.values = {{"lr", "0.005"}, {"train-src", "\xE9.en"}};
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
  EXPECT_EQ(line.at("keep_bleu"), 40);
  EXPECT_EQ(line.at("keep_has_fallen"), true);
  EXPECT_EQ(line.at("attention").dump(),
            R"({"source":["a","</s>"],"target":["b"],"weights":[[0.25,0.75]]})");
  EXPECT_EQ(line.at("samples").dump(), R"([{"reference":"c","source":"a","translation":"b"}])");
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
  EXPECT_THAT(observer.warnings, ElementsAre(HasSubstr("log.jsonl: cannot write; going on"),
                                             HasSubstr("tensorboard: cannot write; going on")));
  EXPECT_EQ(read_file(run.log()), before);
  log.logged({.update = 2});
  EXPECT_EQ(lines().back().at("update"), 2);
}

TEST_F(RunLogTest, EventFilesThatCannotBeMadeCostNoLine) {
  write("tensorboard", "a file stands here");
  RunLog log(run, observer);
  log.open({}, 1);
  EXPECT_THAT(observer.warnings,
              ElementsAre(HasSubstr("TensorBoard's events not saved, training goes on")));
  log.logged({.update = 1});
  EXPECT_THAT(types(), ElementsAre("start", "update"));
}

}  // namespace
}  // namespace dragoman
