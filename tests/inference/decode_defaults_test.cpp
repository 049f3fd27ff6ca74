#include "inference/decode_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

TEST(DecodeDefaults, ASettingMayHaveSeveralValues) {
  DecodeConfig config;
  take_decode_defaults(config, {{"suppress", "a,\\,,b"}, {"beam-size", "7"}},
                       [](std::string_view name) { return name == "beam-size"; });
  EXPECT_THAT(config.suppress, ElementsAre("a", ",", "b"));
  EXPECT_EQ(config.beam_size, 5) << "was given";
}

TEST(DecodeDefaults, AValueWithoutMeaningIsRefused) {
  DecodeConfig config;
  EXPECT_THROW(
      take_decode_defaults(config, {{"beam-size", "wide"}}, [](std::string_view) { return false; }),
      UsageError);
}

}  // namespace
}  // namespace dragoman
