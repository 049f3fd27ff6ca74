// The interfaces of Google, DeepLX and Immersive Translate, as a client sees them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kGoogle = "/language/translate/v2";

json data_of(const HttpResponse& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  return json_of(response).at("data");
}

TEST(Google, TextsAreTranslatedEachFromItsLanguage) {
  TableServer table({"en-de", "fr-de"});
  const json body = {{"q", {"The men are playing in the park.", "Les hommes jouent dans le parc."}},
                     {"target", "de"},
                     {"source", nullptr},
                     {"format", "text"},
                     {"cid", json::array()}};
  const json answers = data_of(table.post(kGoogle, body)).at("translations");
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]["detectedSourceLanguage"], "en");
  EXPECT_EQ(answers[1]["detectedSourceLanguage"], "fr");
  const HttpRequest request{
      .method = "GET",
      .path = kGoogle,
      .query = {{"q", "one"}, {"q", "two"}, {"source", "en"}, {"target", "de"}}};
  EXPECT_EQ(data_of(table.ask(request)).at("translations"),
            parse_json(R"([{"translatedText": "one"}, {"translatedText": "two"}])"));
}

TEST(Google, ATextIsHtmlUnlessItsFormatIsText) {
  TableServer table({"en-de"});
  const auto translated = [&table](const json& more) {
    json body = {{"q", "<p>one <b>two</b></p>"}, {"source", "en"}, {"target", "de"}};
    body.update(more);
    return table.post(kGoogle, body);
  };
  EXPECT_EQ(data_of(translated(json::object()))["translations"][0]["translatedText"],
            "<p>one <b>two</b></p>");
  EXPECT_EQ(table.answered().back().characters, 7);
  EXPECT_EQ(translated({{"format", "text"}}).status, 200);
  EXPECT_EQ(table.answered().back().characters, 21);
  EXPECT_EQ(translated({{"format", "rtf"}}).status, 400);
}

TEST(Google, LanguagesAreListedAndDetected) {
  TableServer table({"en-de", "de-en"});
  EXPECT_EQ(data_of(table.get("/language/translate/v2/languages"))["languages"],
            parse_json(R"([{"language": "de"}, {"language": "en"}])"));
  const HttpRequest named{
      .method = "GET", .path = "/language/translate/v2/languages", .query = {{"target", "en"}}};
  EXPECT_EQ(data_of(table.ask(named))["languages"][0]["name"], "German");
  const json found = data_of(table.post(
      "/language/translate/v2/detect",
      {{"q", {"The men are playing in the park.", "Die Männer spielen im Park."}}}))["detections"];
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0][0]["language"], "en");
  EXPECT_EQ(found[1][0]["language"], "de");
  EXPECT_GT(found[0][0]["confidence"], 0);
  EXPECT_LE(found[0][0]["confidence"], 1);
}

TEST(Google, ErrorsHaveACodeAndAMessage) {
  const ScratchFile file("keys.txt", "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  const auto error = [&](json body, int status) {
    body["key"] = "alpha";
    const HttpResponse response = table.post(kGoogle, body);
    EXPECT_EQ(response.status, status) << body;
    const json found = json_of(response).at("error");
    EXPECT_EQ(found["code"], status);
    EXPECT_EQ(found["errors"][0]["message"], found["message"]);
    return found["message"].get<std::string>();
  };
  EXPECT_THAT(error({{"target", "de"}}, 400), HasSubstr("q"));
  EXPECT_THAT(error({{"q", "one"}}, 400), HasSubstr("target"));
  EXPECT_THAT(error({{"q", "one"}, {"target", "fr"}}, 400), HasSubstr("fr is not supported"));
  EXPECT_THAT(error({{"q", "one"}, {"target", "en"}}, 400), HasSubstr("no model"));
  const json body = {{"q", "one"}, {"source", "en"}, {"target", "de"}};
  HttpRequest request = TableServer::request_of(kGoogle, body);
  EXPECT_EQ(table.ask(request).status, 403);
  request.headers["x-goog-api-key"] = "alpha";
  EXPECT_EQ(table.ask(request).status, 200);
  EXPECT_TRUE(json_of(table.post("/language/translate/v3", body)).at("error").is_object());
}

TEST(DeepLX, ATextIsTranslated) {
  TableServer table({"en-de"});
  const json body = {{"text", "one two"}, {"source_lang", "auto"}, {"target_lang", "DE"}};
  const HttpResponse response = table.post("/deeplx/translate", body);
  ASSERT_EQ(response.status, 200) << response.body;
  json answer = json_of(response);
  EXPECT_GT(answer["id"], 0);
  answer.erase("id");
  EXPECT_EQ(answer, json({{"code", 200},
                          {"data", "one two"},
                          {"alternatives", json::array()},
                          {"source_lang", "EN"},
                          {"target_lang", "DE"},
                          {"method", "Free"}}));
}

TEST(DeepLX, ErrorsHaveACodeAndAMessage) {
  const ScratchFile file("keys.txt", "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  const auto status = [&](const json& more) {
    json body = {{"text", "one"}, {"target_lang", "DE"}, {"token", "alpha"}};
    body.update(more);
    const HttpResponse response = table.post("/deeplx/translate", body);
    EXPECT_EQ(json_of(response).at("code"), response.status);
    EXPECT_EQ(json_of(response).contains("message"), response.status != 200);
    return response.status;
  };
  EXPECT_EQ(status(json::object()), 200);
  EXPECT_EQ(status({{"token", ""}}), 401);
  EXPECT_EQ(status({{"token", "beta"}}), 403);
  EXPECT_EQ(status({{"text", {"one", "two"}}}), 400);
  EXPECT_EQ(status({{"target_lang", "FR"}}), 400);
  EXPECT_EQ(status({{"tag_handling", "html"}}), 200);
  EXPECT_EQ(status({{"tag_handling", "xml"}, {"text", "<a>"}}), 400);
  EXPECT_EQ(status({{"tag_handling", "rtf"}}), 400);
}

TEST(ImmersiveTranslate, AListOfTextsIsTranslated) {
  TableServer table({"en-zh-Hans"});
  const json body = {
      {"source_lang", "auto"}, {"target_lang", "zh-CN"}, {"text_list", {"one", "two"}}};
  const HttpResponse response = table.post("/immersive/translate", body);
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(json_of(response)["translations"],
            parse_json(R"([{"detected_source_lang": "en", "text": "one"},
                            {"detected_source_lang": "en", "text": "two"}])"));
  EXPECT_EQ(table.post("/immersive/translate", {{"text_list", json::array()}}).status, 400);
}

}  // namespace
}  // namespace dragoman
