#include <gtest/gtest.h>
#include "training/progress_record.h"
#include "training/resume.h"
#include "training/train_config.h"

namespace dragoman {
namespace {

TEST(ProgressRecord, RoundTripsThroughJson) {
  ProgressRecord progress;
  progress.update = 7;
  progress.seconds = 0.1;
  progress.best.value = 1.0 / 3;
  progress.settings.values = {{"lr", "0.005"}, {"train-src", "a \"b\".en, \xFF.en"}};
  progress.data = {{"\xE9t\xE9.en", "0123"}, {"\u00e9t\u00e9.en", "4567"}};
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
  EXPECT_THROW(progress_from_json("{\"epoch\": 7}"), Error);
  EXPECT_THROW(progress_from_json("{\"update\": \"7\"}"), Error);
  EXPECT_THROW(progress_from_json("nonsense"), Error);
}

TEST(ProgressRecord, OfAnEarlierVersionIsReadWithDefaults) {
  const ProgressRecord progress = progress_from_json("{\"update\": 7}");
  EXPECT_EQ(progress.update, 7);
  EXPECT_EQ(progress.rate_factor, 1);
  EXPECT_FALSE(progress.best.is_there());
  EXPECT_LT(progress.keep_value, 0) << "not measured";
  EXPECT_TRUE(progress_from_json("{\"update\": 7, \"best_update\": 5}").best.is_there());
  EXPECT_EQ(progress_from_json(to_json(progress)), progress);
}

TEST(Resume, RefusesWhatMakesAnotherRunAndListsTheRest) {
  TrainConfig config;
  config.apply_preset(Preset::Tiny);
  const auto remembered = configuration_of(fields_of(config));
  config.max_updates = 500;
  config.threads = 7;
  const auto changes = compare_configuration(fields_of(config), remembered);
  EXPECT_EQ(changes.allowed, std::vector<std::string>{"--max-updates 0 -> 500"});
  EXPECT_EQ(changes.not_exact, std::vector<std::string>{"--threads 0 -> 7"});
  config.lr = 1;
  try {
    compare_configuration(fields_of(config), remembered);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--lr: this run was started with '0.005'"));
  }
}

TEST(TrainConfig, NamesTheFlagThatIsWrong) {
  const auto message = [](auto&& change) -> std::string {
    TrainConfig config;
    config.output = "run";
    change(config);
    try {
      config.validate();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](TrainConfig&) {}), "");
  EXPECT_EQ(message([](TrainConfig& c) { c.lr = 0; }), "--lr must be above 0");
  EXPECT_TRUE(message([](TrainConfig& c) { c.output = ""; }).starts_with("-o/--output"));
  EXPECT_TRUE(message([](TrainConfig& c) { c.max_time = "5 minutes"; }).starts_with("--max-time"));
}

TEST(TrainConfig, TheRateEndsWithTheRunUnlessItIsSaid) {
  TrainConfig config;
  config.settle_lr_end();
  EXPECT_EQ(config.lr_end, 0);  // the inverse square root never ends
  config.scheduler = LrScheduler::Cosine;
  EXPECT_THROW(config.settle_lr_end(), UsageError);
  config.max_updates = 500;
  config.settle_lr_end();
  EXPECT_EQ(config.lr_end, 500);
  config.max_updates = 900;
  config.settle_lr_end();
  EXPECT_EQ(config.lr_end, 500);
}

TEST(Resume, TextsOfAListComeBackAsTheyWere) {
  std::vector<std::string> list = {"a,b", "", "c\\", "\\,"};
  const Field field = detail::make_field({.name = "files", .help = ""}, list);
  const auto before = list;
  const std::string text = field.text();
  list.clear();
  assign_text(field, text);
  EXPECT_EQ(list, before);
  assign_text(field, "");
  EXPECT_TRUE(list.empty());
}

TEST(Resume, ALongerRunMayNotBendTheScheduleThatHasBegun) {
  TrainConfig config;
  config.scheduler = LrScheduler::Linear;
  config.max_updates = 100;
  config.settle_lr_end();
  const auto remembered = configuration_of(fields_of(config));
  config.lr_end = 0;
  config.max_updates = 200;
  config.settle_lr_end();
  EXPECT_THROW(compare_configuration(fields_of(config), remembered), UsageError);
  config.lr_end = 100;
  EXPECT_EQ(compare_configuration(fields_of(config), remembered).allowed,
            std::vector<std::string>{"--max-updates 100 -> 200"});
}

TEST(TrainConfig, ReadsDurations) {
  EXPECT_EQ(parse_duration("max-time", ""), 0);
  EXPECT_EQ(parse_duration("max-time", "90"), 90);
  EXPECT_EQ(parse_duration("max-time", "90s"), 90);
  EXPECT_EQ(parse_duration("max-time", "1.5m"), 90);
  EXPECT_EQ(parse_duration("max-time", "2h"), 7200);
  EXPECT_EQ(parse_duration("max-time", "1d"), 86400);
  EXPECT_THROW(parse_duration("max-time", "-3s"), UsageError);
}

}  // namespace
}  // namespace dragoman
