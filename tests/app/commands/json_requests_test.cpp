#include "app/commands/json_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

using namespace std::string_literals;
using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class JsonRequestsTest : public testing::Test {
 protected:
  /// Each text is its own translation.
  std::string ask(const std::string& line) {
    const LineInput input = requests_.read(line);
    const TranslatedText text{.text = input.text};
    return requests_.answer({.line = 0, .n_best = {text}, .unmet = {}}).text;
  }

  JsonRequests requests_{[](const TranslationRequest&) { return nullptr; }, {}, {}};
};

TEST_F(JsonRequestsTest, ALineWithANulIsNoRequest) {
  for (const std::string& line :
       {"{\"text\":\"a\"}\0{\"x\":1}"s, "{\"text\":\"a\",\"x\":1}\0}"s, "{\"text\":\"a\"}\0"s,
        "\0{\"text\":\"a\"}"s, "{\"text\":\"a\0b\"}"s}) {
    const std::string answer = ask(line);
    ASSERT_TRUE(json::accept(answer)) << answer;
    EXPECT_THAT(json::parse(answer)["error"].get<std::string>(), StartsWith("not a JSON object"));
  }
  EXPECT_THAT(ask("{\"text\":\"a\"}\0"s), HasSubstr("NUL at byte 13"));
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
    EXPECT_THAT(json::parse(answer)["error"].get<std::string>(), HasSubstr("NUL or a line end"));
  }
}

}  // namespace
}  // namespace dragoman
