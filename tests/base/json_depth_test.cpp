#include "base/json_depth.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace dragoman {
namespace {

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
