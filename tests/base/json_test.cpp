#include "base/json.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, NestingHasABound) {
  EXPECT_TRUE(parse_json(nested(kMostJsonDepth)).is_array());
  EXPECT_TRUE(parse_json<nlohmann::ordered_json>(nested(kMostJsonDepth)).is_array());
  EXPECT_THROW(parse_json(nested(kMostJsonDepth + 1)), Error);
  EXPECT_THROW(parse_json<nlohmann::ordered_json>(nested(200'000)), Error);
  EXPECT_TRUE(parse_json_or_discard(nested(kMostJsonDepth)).is_array());
  EXPECT_TRUE(parse_json_or_discard(nested(kMostJsonDepth + 1)).is_discarded());
}

TEST(Json, ANulIsAFaultAtItsPlace) {
  const std::string_view text("[1]\0 more", 9);
  EXPECT_TRUE(parse_json_or_discard(text).is_discarded());
  try {
    parse_json(text);
    ADD_FAILURE() << "a NUL was taken for the end";
  } catch (const nlohmann::json::parse_error& error) {
    EXPECT_EQ(error.byte, 4U);
  }
}

TEST(Json, WhatIsNotJsonIsAnErrorOrDiscarded) {
  EXPECT_THROW(parse_json("{"), nlohmann::json::exception);
  EXPECT_THROW(parse_json<nlohmann::ordered_json>("{} {}"), nlohmann::ordered_json::exception);
  EXPECT_TRUE(parse_json_or_discard("").is_discarded());
}

TEST(Json, OrderedJsonKeepsTheOrderOfMembers) {
  const std::string text = R"({"b":1,"a":[2]})";
  EXPECT_EQ(json_text(parse_json<nlohmann::ordered_json>(text)), text);
  EXPECT_EQ(json_text(parse_json(text)), R"({"a":[2],"b":1})");
  EXPECT_EQ(json_text(parse_json(text), 1), "{\n \"a\": [\n  2\n ],\n \"b\": 1\n}");
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(json_string("a\"\xFF\n"), "\"a\\\"\uFFFD\\n\"");
}

}  // namespace
}  // namespace dragoman
