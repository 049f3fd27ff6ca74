#include "training/start/resume_changes.h"

#include <gtest/gtest.h>

#include "tests/model/file/small_model.h"
#include "training/train_config.h"

namespace dragoman {
namespace {

TEST(Resume, AnotherNameOfTheSameModelIsNoChange) {
  const ScratchFile model("model"), other("other");
  model.write("a");
  other.write("a");
  TrainConfig config;
  config.init_from = model.path().string();
  const auto remembered = configuration_of(fields_of(config));
  config.init_from = (model.path().parent_path() / "." / model.path().filename()).string();
  EXPECT_TRUE(compare_configuration(fields_of(config), remembered).allowed.empty());
  for (const std::string& name : {other.path().string(), std::string("missing"), std::string()}) {
    config.init_from = name;
    EXPECT_THROW(compare_configuration(fields_of(config), remembered), UsageError) << name;
  }
}

TEST(Resume, TheInitialModelIsKnownByItsChecksumWhereItHasMoved) {
  const ScratchFile moved("moved"), other("other");
  moved.write(SmallModel(9).bytes());
  other.write(SmallModel(10).bytes());
  TrainConfig config;
  config.init_from = "where/it/was";
  const auto remembered = configuration_of(fields_of(config));
  const std::string checksum = ModelFileReader(moved.path()).checksum();
  config.init_from = moved.path().string();
  EXPECT_TRUE(compare_configuration(fields_of(config), remembered, checksum).allowed.empty());
  EXPECT_THROW(compare_configuration(fields_of(config), remembered), UsageError);
  config.init_from = other.path().string();
  EXPECT_THROW(compare_configuration(fields_of(config), remembered, checksum), UsageError);
}

TEST(Resume, AFlagThatMakesAnotherRunIsRefusedAndOtherChangesAreListed) {
  TrainConfig config;
  config.apply_preset(Preset::Tiny);
  config.lr = 0.005;
  const auto remembered = configuration_of(fields_of(config));
  config.max_updates = 500;
  config.device = "cuda";
  config.threads = 7;
  config.keep_last = config.average_last = 2;
  const auto changes = compare_configuration(fields_of(config), remembered);
  EXPECT_EQ(changes.allowed,
            (std::vector<std::string>{"--max-updates 0 -> 500", "--keep-last 5 -> 2",
                                      "--average-last 5 -> 2", "--threads 0 -> 7"}));
  EXPECT_EQ(changes.not_exact, std::vector<std::string>{"--device auto -> cuda"});
  config.lr = 1;
  try {
    compare_configuration(fields_of(config), remembered);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("--lr: this run was started with '0.005'"));
  }
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

}  // namespace
}  // namespace dragoman
