#include "training/start/resume_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/model/file/small_model.h"
#include "training/settings/train_config.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

std::vector<std::string> changes(TrainConfig& config,
                                 const std::map<std::string, std::string>& remembered) {
  std::vector<std::string> texts;
  for (const Remark& remark : changed_fields(fields_of(config), remembered))
    texts.push_back(remark.text);
  return texts;
}

TEST(Resume, AnotherNameOfTheSameModelIsNotAChange) {
  const ScratchFile model("model"), other("other");
  model.write("a");
  other.write("a");
  TrainConfig config;
  config.init_from = model.path().string();
  const auto remembered = configuration_of(fields_of(config));
  config.init_from = (model.path().parent_path() / "." / model.path().filename()).string();
  EXPECT_TRUE(changed_fields(fields_of(config), remembered).empty());
  for (const std::string& name : {other.path().string(), std::string("missing"), std::string()}) {
    config.init_from = name;
    EXPECT_THROW(changed_fields(fields_of(config), remembered), UsageError) << name;
  }
}

TEST(Resume, AnotherNameOfTheSameRunFolderIsNotAChange) {
  const ScratchFile file("file");
  TrainConfig config;
  config.output = file.path().parent_path().string();
  const auto remembered = configuration_of(fields_of(config));
  config.output += "/";
  EXPECT_THAT(changes(config, remembered), ElementsAre());
  config.output += "moved";
  EXPECT_THAT(changes(config, remembered),
              ElementsAre("changed: --output " + remembered.at("output") + " -> " + config.output));
}

TEST(Resume, TheInitialModelIsKnownByItsChecksumIfItHasMoved) {
  const ScratchFile moved("moved"), other("other");
  moved.write(SmallModel(9).bytes());
  other.write(SmallModel(10).bytes());
  TrainConfig config;
  config.init_from = "where/it/was";
  const auto remembered = configuration_of(fields_of(config));
  const std::string checksum = ModelFileReader(moved.path()).checksum();
  config.init_from = moved.path().string();
  EXPECT_TRUE(changed_fields(fields_of(config), remembered, checksum).empty());
  EXPECT_THROW(changed_fields(fields_of(config), remembered), UsageError);
  config.init_from = other.path().string();
  EXPECT_THROW(changed_fields(fields_of(config), remembered, checksum), UsageError);
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
  EXPECT_THAT(
      changes(config, remembered),
      ElementsAre("changed: --max-updates 0 -> 500", "changed: --keep-last 5 -> 2",
                  "changed: --average-last 5 -> 2",
                  "changed: --device auto -> cuda; the run continues, but not bit-identically",
                  "changed: --threads 0 -> 7"));
  config.lr = 1;
  EXPECT_THAT([&] { changed_fields(fields_of(config), remembered); },
              testing::ThrowsMessage<UsageError>(
                  testing::StartsWith("--lr: this run was started with 0.005, not ")));
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
  EXPECT_THROW(changed_fields(fields_of(config), remembered), UsageError);
  config.lr_end = 100;
  EXPECT_THAT(changes(config, remembered), ElementsAre("changed: --max-updates 100 -> 200"));
}

}  // namespace
}  // namespace dragoman
