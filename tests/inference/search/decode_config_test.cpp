#include "inference/search/decode_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "inference/search/engine.h"
#include "tests/names.h"

namespace dragoman {
namespace {

TEST(DecodeConfig, WrongValuesNameTheirFlag) {
  const auto message = [](const DecodeConfig& config) -> std::string {
    return message_of<UsageError>([&] { config.check(); });
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
  EXPECT_THAT(message({.seed = 7}), testing::HasSubstr("--seed: needs"));
  EXPECT_EQ(message({.sampling = true, .seed = 7}), "");
  EXPECT_THAT(message({.temperature = 0.5}), testing::HasSubstr("--temperature: needs"));
  EXPECT_THAT(message({.sampling = true, .temperature = 0}), testing::HasSubstr("--temperature"));
}

/// Whether check() takes the number for the flag.
bool is_taken(std::string_view flag, double value) {
  DecodeConfig config{.sampling = true};
  for (const Field& field : fields_of(config))
    if (field.info.name == flag)
      field.assign({field.kind == Field::Kind::Integer
                        ? text_of(static_cast<std::int64_t>(std::llround(value)))
                        : text_of(value)});
  return message_of<UsageError>([&] { config.check(); }).empty();
}

TEST(DecodeConfig, LayerZeroIsRefusedAsItMeantAnotherLayerThanInOtherFlags) {
  const auto check = [](std::int64_t layer) { DecodeConfig{.attention_layer = layer}.check(); };
  EXPECT_THAT([&] { check(0); },
              testing::ThrowsMessage<UsageError>(testing::AllOf(
                  testing::HasSubstr("--attention-layer 0: "), testing::HasSubstr("-1"))));
  EXPECT_NO_THROW(check(-1));
  EXPECT_NO_THROW(check(DecodeConfig{}.attention_layer));
}

TEST(AttentionHeads, ALayerCountsFromOneAndMinusOneIsTheLastButOne) {
  EXPECT_EQ((AttentionHeads{.layer = 2}.layer_of(6)), 2);
  EXPECT_EQ((AttentionHeads{.layer = -1}.layer_of(6)), 5);
  EXPECT_EQ((AttentionHeads{.layer = -1}.layer_of(1)), 1) << "the only one";
  EXPECT_EQ(AttentionHeads{}.layer, DecodeConfig{}.attention_layer);
}

TEST(AttentionHeads, ALayerOrHeadThatTheModelLacksIsNamedBesideTheirNumber) {
  const auto message = [](const AttentionHeads& heads, std::int64_t layers, std::int64_t of_each) {
    return message_of<UsageError>([&] { heads.check(layers, of_each); });
  };
  EXPECT_EQ(message({.layer = 2, .head = 2}, 2, 2), "");
  EXPECT_THAT(message({.layer = 7}, 1, 2), Names("--attention-layer 7 ... 1 layer"));
  EXPECT_THAT(message({.layer = 7}, 6, 2), Names("--attention-layer 7 ... 6 layers"));
  EXPECT_THAT(message({.head = 2}, 1, 1), Names("--attention-head 2 ... 1 head"));
}

TEST(DecodeConfig, EveryNumberButTheSeedHasARange) {
  DecodeConfig config;
  for (const Field& field : fields_of(config)) {
    const std::string_view flag = field.info.name;
    const bool is_whole = field.kind == Field::Kind::Integer;
    if ((!is_whole && field.kind != Field::Kind::Number) || flag == "seed") continue;
    const auto range = setting_range(flag);
    ASSERT_TRUE(range) << flag;
    EXPECT_TRUE(is_taken(flag, range->least)) << flag;
    EXPECT_FALSE(is_taken(flag, is_whole ? range->least - 1 : std::nextafter(range->least, -1e9)))
        << flag;
    EXPECT_TRUE(is_taken(flag, range->most)) << flag;
    EXPECT_FALSE(is_taken(flag, is_whole ? range->most + 1 : std::nextafter(range->most, 1e9)))
        << flag;
  }
}

TEST(DecodeConfig, AMinimumLengthIsKeptAgainstTheRatio) {
  EXPECT_EQ(DecodeConfig{.min_length = 100}.max_target_length(1), 101);  // and </s>
  EXPECT_EQ((DecodeConfig{.min_length = 100, .max_length = 100}.max_target_length(1)), 100);
}

}  // namespace
}  // namespace dragoman
