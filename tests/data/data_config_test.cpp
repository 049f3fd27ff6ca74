#include "data/data_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/data/text_files.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(DataConfig, RefusesWhatMakesNoSenseAndNamesTheFlag) {
  const DataConfig good{.train_source = {"a", "b"}, .train_target = {"A", "B"}};
  const auto message = [&good](auto change) {
    DataConfig config = good;
    change(config);
    return message_of<UsageError>([&] { config.validate(); });
  };
  EXPECT_EQ(message([](DataConfig&) {}), "");
  EXPECT_THAT(message([](DataConfig& c) { c.train_source.pop_back(); }),
              HasSubstr("--train-src names 1 files but --train-tgt names 2"));
  EXPECT_THAT(message([](DataConfig& c) { c.train_source = c.train_target = {}; }),
              HasSubstr("--train-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_source = {"v"}; }), HasSubstr("--valid-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_length = -1; }), HasSubstr("--max-length"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_ratio = 0.5; }), HasSubstr("--max-ratio"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_fraction = 0.9; }),
              HasSubstr("--valid-fraction"));
}

TEST(PassesRatio, LooksAtTheLongerSideWhicheverItIs) {
  EXPECT_TRUE(passes_ratio(20, 10, 2));
  EXPECT_TRUE(passes_ratio(10, 20, 2));
  EXPECT_FALSE(passes_ratio(21, 10, 2));
  EXPECT_FALSE(passes_ratio(10, 21, 2));
  EXPECT_TRUE(passes_ratio(10, 1, 2)) << "short sentences pass";
  EXPECT_FALSE(passes_ratio(11, 1, 2));
  EXPECT_TRUE(passes_ratio(1000, 1, 0)) << "no limit";
  EXPECT_FALSE(passes_ratio(100, 0, 9));
}

}  // namespace
}  // namespace dragoman
