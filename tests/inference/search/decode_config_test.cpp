#include "inference/search/decode_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(DecodeConfig, WrongValuesNameTheirFlag) {
  const auto message = [](const DecodeConfig& config) -> std::string {
    try {
      config.validate();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}), "");
  EXPECT_THAT(message({.beam_size = 0}), testing::HasSubstr("--beam-size 0"));
  EXPECT_THAT(message({.n_best = 6}), testing::HasSubstr("--n-best 6"));
  EXPECT_EQ(message({.n_best = 6, .sampling = true}), "");
  EXPECT_THAT(message({.length_penalty = std::nan("")}), testing::HasSubstr("--length-penalty"));
  EXPECT_THAT(message({.min_length = 9, .max_length = 8}), testing::HasSubstr("--min-length 9"));
  EXPECT_THAT(message({.max_length_ratio = 0}), testing::HasSubstr("--max-length-ratio"));
  EXPECT_THAT(message({.split_length = 0}), testing::HasSubstr("--split-length"));
  EXPECT_THAT(message({.sampling_topk = 3}), testing::HasSubstr("--sampling-topk: needs"));
  EXPECT_THAT(message({.sampling_topp = 0.5}), testing::HasSubstr("--sampling-topp: needs"));
  EXPECT_THAT(message({.temperature = 0.5}), testing::HasSubstr("--temperature: needs"));
  EXPECT_THAT(message({.sampling = true, .temperature = 0}), testing::HasSubstr("--temperature"));
}

TEST(DecodeConfig, AMinimumLengthIsKeptAgainstTheRatio) {
  EXPECT_EQ(DecodeConfig{.min_length = 100}.max_target_length(1), 101);  // and </s>
  EXPECT_EQ((DecodeConfig{.min_length = 100, .max_length = 100}.max_target_length(1)), 100);
}

}  // namespace
}  // namespace dragoman
