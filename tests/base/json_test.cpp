#include "base/json.h"

#include <gtest/gtest.h>

#include <chrono>

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

TEST(Json, BracketsInATextAreNoNesting) {
  const std::string brackets(kMostJsonDepth + 1, '[');
  EXPECT_EQ(parse_json("[\"\\\"" + brackets + "\\\\\",1]")[0], '"' + brackets + '\\');
  EXPECT_THROW(parse_json("[\"\\\"\"," + brackets), Error);
  std::string pairs;
  for (int i = 0; i <= kMostJsonDepth; ++i) pairs += "{},";
  EXPECT_EQ(parse_json("[" + pairs + "[]]").size(), kMostJsonDepth + 2U);
}

TEST(Json, AListOfManyObjectsTakesNoLongerThanItsText) {
  std::string text = "[{}";
  for (int i = 1; i < 200'000; ++i) text += ",{}";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_json(text + "]").size(), 200'000U);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << "not linear";
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
