#include "data/data_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/data/text_files.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

TEST(DataConfig, ValuesThatMakeNoSenseAreRefusedByTheNameOfTheFlag) {
  const DataConfig good{.train_source = {"a", "b"}, .train_target = {"A", "B"}};
  const auto message = [&good](auto change) {
    DataConfig config = good;
    change(config);
    return message_of<UsageError>([&] { config.check(); });
  };
  EXPECT_EQ(message([](DataConfig&) {}), "");
  EXPECT_THAT(message([](DataConfig& c) { c.train_source.pop_back(); }),
              HasSubstr("--train-src names 1 file but --train-tgt names 2"));
  EXPECT_THAT(message([](DataConfig& c) { c.train_source = c.train_target = {}; }),
              HasSubstr("--train-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_source = {"v"}; }), HasSubstr("--valid-src"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_length = -1; }), HasSubstr("--max-length"));
  EXPECT_THAT(message([](DataConfig& c) { c.max_ratio = 0.5; }), HasSubstr("--max-ratio"));
  EXPECT_THAT(message([](DataConfig& c) { c.valid_fraction = 0.9; }),
              HasSubstr("--valid-fraction"));
  EXPECT_THAT(message([](DataConfig& c) { c.corpus_weights = {"1"}; }),
              HasSubstr("--corpus-weights has 1 value for 2 training files"));
  for (const std::string weight : {"0", "-1", "x", "1e9"})
    EXPECT_THAT(message([&](DataConfig& c) {
                  c.corpus_weights = {"1", weight};
                }),
                HasSubstr("--corpus-weights"));
  EXPECT_EQ(message([](DataConfig& c) { c.corpus_weights = {"0.5", "3"}; }), "");
  EXPECT_THAT(message([](DataConfig& c) {
                c.corpus_tags = {"", "", "<a>"};
              }),
              HasSubstr("--corpus-tags has 3 values for 2 training files"));
  EXPECT_THAT(message([](DataConfig& c) {
                c.corpus_tags = {"", "a b"};
              }),
              HasSubstr("--corpus-tags a b"));
  EXPECT_EQ(message([](DataConfig& c) { c.corpus_tags = {"", "<bt>"}; }), "");
  for (const std::string tag : {"<s>", "<0x41>"})
    EXPECT_THAT(message([&](DataConfig& c) {
                  c.corpus_tags = {"", tag};
                }),
                HasSubstr("--corpus-tags " + tag + ": is a piece of every vocabulary"));
  EXPECT_THAT(message([](DataConfig& c) { c.subword_sampling = 1.5; }),
              HasSubstr("--subword-sampling 1.5"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_drop_end_punctuation = -0.1; }),
              HasSubstr("--augment-drop-end-punctuation"));
  EXPECT_THAT(message([](DataConfig& c) { c.augment_upper_case = c.augment_title_case = 0.6; }),
              HasSubstr("--augment-upper-case and --augment-title-case"));
}

TEST(PassesRatio, TheLongerSideDecidesWhicheverItIs) {
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
