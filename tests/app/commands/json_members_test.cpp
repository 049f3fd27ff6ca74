#include "app/commands/json_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace dragoman {
namespace {

using namespace std::string_literals;
using nlohmann::json;
using testing::ElementsAre;

std::vector<std::string> wholes(std::string_view line) {
  std::vector<std::string> found;
  for (const JsonMember& member : members_of(line).members) found.emplace_back(member.whole);
  return found;
}

TEST(JsonMembers, MembersKeepTheTextOfTheLine) {
  const std::string line =
      " { \"a\" : [1,{\"b\":\"}\\\"\"}] ,\"\\u0063\":1e99999,\"d\":\"\\ud800\"}\t";
  const JsonMembers object = members_of(line);
  EXPECT_EQ(object.fault, std::string_view::npos);
  EXPECT_THAT(wholes(line), ElementsAre("\"a\" : [1,{\"b\":\"}\\\"\"}]", "\"\\u0063\":1e99999",
                                        "\"d\":\"\\ud800\""));
  EXPECT_EQ(object.members[0].value, "[1,{\"b\":\"}\\\"\"}]");
  EXPECT_EQ(object.members[1].key, "c");
  EXPECT_EQ(members_of("{}").fault, std::string_view::npos);
}

TEST(JsonMembers, OfMembersWithTheSameKeyTheLastOneCounts) {
  const JsonMembers object = members_of(R"({"a":1,"b":2,"a":3})");
  EXPECT_EQ(find_member(object.members, "a")->value, "3");
  EXPECT_EQ(find_member(object.members, "c"), nullptr);
}

TEST(JsonMembers, MembersAreFoundUpToAFault) {
  for (const std::string& line :
       {R"({"id":8,"text":"a)"s, R"({"id":8,"text":12)"s, R"({"id":8,})"s, R"({"id":8,"a" 1})"s})
    EXPECT_THAT(wholes(line), ElementsAre("\"id\":8")) << line;
  EXPECT_THAT(wholes("{\"id\":8}x"), ElementsAre("\"id\":8"));
  EXPECT_EQ(members_of("{\"id\":8}x").fault, 8u);
  EXPECT_EQ(members_of("{\"a\":\"b\0\"}"s).fault, 7u);
}

/// The reader of JSON that is used elsewhere decides; it ends at a NUL, which is no JSON.
TEST(JsonMembers, TheGrammarIsThatOfJson) {
  const std::string seed =
      R"({"a":[-1.5e+3,0,true,null,"\u00e9\/\\"],"b":{},"c":[[],{"d":false}],"e":1E-2})";
  ASSERT_EQ(members_of(seed).fault, std::string_view::npos);
  const std::string others =
      "\"\\{}[],:0-+.eEtu \x01"
      "a";
  for (std::size_t i = 0; i < seed.size(); ++i) {
    std::string shorter = seed;
    shorter.erase(i, 1);
    EXPECT_EQ(members_of(shorter).fault == std::string_view::npos, json::accept(shorter))
        << shorter;
    for (const char other : others) {
      std::string changed = seed, longer = seed;
      changed[i] = other;
      longer.insert(i, 1, other);
      for (const std::string& line : {changed, longer})
        EXPECT_EQ(members_of(line).fault == std::string_view::npos, json::accept(line)) << line;
    }
    std::string with_nul = seed;
    with_nul.insert(i, 1, '\0');
    EXPECT_NE(members_of(with_nul).fault, std::string_view::npos) << i;
  }
}

TEST(JsonMembers, MembersMayBeNestedToAnyDepth) {
  const std::string deep(300'000, '[');
  EXPECT_NE(members_of("{\"a\":" + deep).fault, std::string_view::npos);
  EXPECT_EQ(members_of("{\"a\":" + deep + std::string(300'000, ']') + "}").fault,
            std::string_view::npos);
}

}  // namespace
}  // namespace dragoman
