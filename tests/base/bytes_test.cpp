#include "base/bytes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dragoman {
namespace {

std::string of(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

TEST(Base64, TheStandardsExamplesAreReproduced) {
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(of("\xFF\xFE\xFD"), "//79");
}

TEST(Checksum, OnlyTheBytesThatWereWrittenComeBack) {
  for (const std::string text : {"", "some bytes"}) {
    const std::string stored = with_checksum(text);
    EXPECT_EQ(without_checksum(stored), text);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      EXPECT_EQ(without_checksum(std::string_view(stored).substr(0, i)), std::nullopt);
      std::string changed = stored;
      changed[i] ^= 1;
      EXPECT_EQ(without_checksum(changed), std::nullopt) << i;
    }
  }
}

template <class Json>
Json parsed(std::size_t depth) {
  return Json::parse(std::string(depth, '[') + std::string(depth, ']'), check_json_depth<Json>,
                     /*allow_exceptions=*/false);
}

TEST(JsonDepth, NestingHasABound) {
  EXPECT_TRUE(parsed<nlohmann::json>(kMostJsonDepth).is_array());
  EXPECT_TRUE(parsed<nlohmann::ordered_json>(kMostJsonDepth).is_array());
  EXPECT_THROW(parsed<nlohmann::json>(kMostJsonDepth + 1), Error);
  EXPECT_THROW(parsed<nlohmann::ordered_json>(200'000), Error);
}

}  // namespace
}  // namespace dragoman
