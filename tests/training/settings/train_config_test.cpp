#include "training/settings/train_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/names.h"

namespace dragoman {
namespace {

TEST(TrainConfig, AnErrorNamesTheFlagThatIsWrong) {
  const auto message = [](auto&& change) -> std::string {
    TrainConfig config;
    config.output = "run";
    change(config);
    return message_of<UsageError>([&] { config.check(); });
  };
  EXPECT_EQ(message([](TrainConfig&) {}), "");
  EXPECT_EQ(message([](TrainConfig& c) { c.lr = 0; }), "--lr must be above 0");
  EXPECT_TRUE(message([](TrainConfig& c) { c.max_time = "5 minutes"; }).starts_with("--max-time"));
}

TEST(TrainConfig, ARunNeedsAFolderAndAPlanDoesNot) {
  TrainConfig config;
  config.output = "";
  config.check();
  EXPECT_THAT([&] { config.check_output(); },
              testing::ThrowsMessage<UsageError>(testing::StartsWith("-o/--output")));
}

TEST(TrainConfig, TheRateEndsWithTheRunUnlessItsEndIsGiven) {
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

TEST(TrainConfig, DurationsAreRead) {
  const auto seconds = [](const char* text) {
    TrainConfig config;
    config.max_time = text;
    return config.max_seconds();
  };
  EXPECT_EQ(seconds(""), 0);
  EXPECT_EQ(seconds("90"), 90);
  EXPECT_EQ(seconds("90s"), 90);
  EXPECT_EQ(seconds("1.5m"), 90);
  EXPECT_EQ(seconds("2h"), 7200);
  EXPECT_EQ(seconds("1d"), 86400);
  EXPECT_THROW(seconds("-3s"), UsageError);
}

}  // namespace
}  // namespace dragoman
