#include "app/commands/json_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/json.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using namespace std::string_literals;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

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

TEST(JsonMembers, TheLastOfMembersWithTheSameKeyCounts) {
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

/// The reader of JSON that is used elsewhere decides; it ends at a NUL, which is not JSON.
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

class JsonRequestsTest : public testing::Test {
 protected:
  /// Each text is its own translation.
  std::string ask(const std::string& line) {
    const LineInput input = requests_.read(line);
    const TranslatedText text{.text = input.text};
    return requests_.answer({.line = 0, .n_best = {text}}).text;
  }

  JsonRequests requests_{[](const TranslationRequest&) { return nullptr; }, {}, {}};
};

TEST_F(JsonRequestsTest, ALineWithANulIsNotARequest) {
  for (const std::string& line :
       {"{\"text\":\"a\"}\0{\"x\":1}"s, "{\"text\":\"a\",\"x\":1}\0}"s, "{\"text\":\"a\"}\0"s,
        "\0{\"text\":\"a\"}"s, "{\"text\":\"a\0b\"}"s}) {
    const std::string answer = ask(line);
    ASSERT_TRUE(json::accept(answer)) << answer;
    EXPECT_THAT(parse_json(answer)["error"].get<std::string>(), Names("JSON object"));
  }
  EXPECT_THAT(ask("{\"text\":\"a\"}\0"s), Names("NUL ... byte 13"));
}

TEST_F(JsonRequestsTest, UnusedFieldsPassThroughUnchanged) {
  const std::vector<std::string> fields = {"\"x\":1e99999", "\"x\":-" + std::string(5'000, '9'),
                                           R"("x":"\ud800")", R"("\udc00x":[{"\ud800":1e-99999}])",
                                           R"("x":1,"x":2)"};
  for (const std::string& field : fields)
    EXPECT_THAT(ask("{" + field + ",\"text\":\"a b\"}"),
                StartsWith("{" + field + ",\"text\":\"a b\",\"translation\":\"a b\""));
}

TEST_F(JsonRequestsTest, FieldsWithTheNameOfAnAnswersFieldDoNotPassThrough) {
  for (const std::string& field :
       {R"("line":7)"s, R"("alignment":"none")"s, R"("error":"")"s, R"("words":[])"s})
    EXPECT_THAT(ask("{" + field + ",\"text\":\"a\"}"),
                StartsWith("{\"text\":\"a\",\"translation\":\"a\""));
}

TEST_F(JsonRequestsTest, AnErrorHasTheFieldsThatCanBeRead) {
  for (const std::string& rest :
       {R"("text":"\ud800"})"s, R"("text":1e99999})"s, R"("text":"a","beam_size":1e99999})"s,
        "\"text\":\"\xff\"}"s, R"("text":"a)"s, R"("text":"a"}x)"s, "\"text\":\"a\"}\0"s}) {
    const std::string answer = ask("{\"id\":8," + rest);
    EXPECT_THAT(answer, StartsWith("{\"id\":8,")) << rest;
    EXPECT_THAT(answer, HasSubstr("\"error\":\"")) << rest;
    EXPECT_EQ(answer.find('\xff'), std::string::npos);
  }
}

TEST(JsonRequests, RequestsOfAKindArePreparedOnceAndOnlySoManyAreKept) {
  std::vector<std::weak_ptr<const PreparedRequest>> prepared;
  JsonRequests requests(
      [&prepared](const TranslationRequest&) {
        auto request = std::make_shared<const PreparedRequest>();
        prepared.push_back(request);
        return request;
      },
      {}, {});
  for (int times = 0; times < 2; ++times) requests.read(R"({"text":"a","beam_size":1})");
  EXPECT_EQ(prepared.size(), 1u);
  for (int beam = 1; beam <= 900; ++beam)
    requests.read(R"({"text":"a","beam_size":)" + std::to_string(beam) + "}");
  EXPECT_LT(std::ranges::count_if(prepared, [](const auto& request) { return !request.expired(); }),
            100);
}

TEST(JsonRequests, ABeamThatARequestLeavesOpenIsAsWideAsItsNBestNeed) {
  DecodeConfig asked;
  JsonRequests requests(
      [&asked](const TranslationRequest& request) {
        asked = request.config;
        return nullptr;
      },
      {.config = {.beam_size = 4}}, {});
  requests.read(R"({"text":"a","n_best":9})");
  EXPECT_EQ(asked.n_best, 9);
  EXPECT_EQ(asked.beam_size, 9);
  requests.read(R"({"text":"a","n_best":2})");
  EXPECT_EQ(asked.beam_size, 4);
}

TEST_F(JsonRequestsTest, ABeamThatARequestNamesIsNotTooNarrowForItsNBest) {
  EXPECT_THAT(ask(R"({"text":"a","n_best":9,"beam_size":4})"), Names("n_best ... 9 ... 4"));
}

TEST_F(JsonRequestsTest, AFieldThatIsNestedTooDeepIsNamed) {
  const std::string deep = std::string(1'000, '[') + std::string(1'000, ']');
  EXPECT_THAT(ask("{\"text\":\"a\",\"terms\":" + deep + "}"), Names("error ... terms ... 64 deep"));
  EXPECT_THAT(ask("{\"text\":\"a\",\"id\":" + deep + "}"), Not(HasSubstr("error")));
}

TEST_F(JsonRequestsTest, AnswersWithAnErrorAreCounted) {
  const ScratchFile file("answers");
  std::string answers;
  for (const char* line : {R"({"text":"a"})", "no json", R"({"text":"\"error\":"})", R"({"id":8})",
                           R"({"x":{"error":1},"text":"b"})"})
    answers += ask(line) + "\n";
  file.write(answers);
  EXPECT_EQ(failed_answers(file.path().string()), 2);
  EXPECT_EQ(failed_answers(""), 0);
}

TEST_F(JsonRequestsTest, ATermIsOfOneLineWithoutNul) {
  for (const char* terms : {R"({"a":"b\u0000c"})", R"({"a\u0000":"b"})", R"({"a":"b\nc"})"}) {
    const std::string answer = ask(R"({"text":"a","terms":)" + std::string(terms) + "}");
    EXPECT_THAT(parse_json(answer)["error"].get<std::string>(), Names("NUL ... line end"));
  }
}

TEST_F(JsonRequestsTest, ASourceTermHasOneTargetTerm) {
  const std::string answer = ask(R"({"text":"a","terms":{"man":"Mann","ma\u006e":"Herr"}})");
  EXPECT_THAT(parse_json(answer)["error"].get<std::string>(), Names("'man' ... 'Mann' ... 'Herr'"));
  EXPECT_FALSE(parse_json(ask(R"({"text":"a","terms":{"a":"b","a":"b"}})")).contains("error"));
}

}  // namespace

}  // namespace dragoman
