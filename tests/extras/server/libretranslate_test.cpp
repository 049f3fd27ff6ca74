// LibreTranslate's interface, as a client sees it.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "extras/server/http.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using nlohmann::json;

std::string error_of(const HttpResponse& response) { return json_of(response).at("error"); }

TEST(LibreTranslate, ATextIsTranslatedAndItsWhiteSpaceStays) {
  TableServer table({"en-de"});
  const std::string text = "\n one two  three \r\n\r\n\tFour five.  Four six,\n";
  const HttpResponse response =
      table.post("/translate", {{"q", text}, {"source", "en"}, {"target", "de"}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.type, "application/json");
  EXPECT_EQ(json_of(response),
            json({{"translatedText", "\n one two three \r\n\r\n\tFour five.  Four six,\n"}}))
      << "the tokenizer joins blanks within a sentence";
}

TEST(LibreTranslate, AListIsAnsweredByAList) {
  TableServer table({"en-de"});
  const json body = {{"q", {"one", "", "two\nthree"}}, {"source", "en"}, {"target", "de"}};
  EXPECT_EQ(json_of(table.post("/translate", body)),
            json({{"translatedText", {"one", "", "two\nthree"}}}));
}

TEST(LibreTranslate, FormsAreTakenToo) {
  TableServer table({"en-de"});
  HttpRequest request{.method = "POST",
                      .path = "/translate",
                      .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                      .body = "q=one+two&source=en&target=de&format=text"};
  EXPECT_EQ(json_of(table.ask(request)), json({{"translatedText", "one two"}}));
  request.headers["content-type"] = "multipart/form-data; boundary=b";
  request.body.clear();
  for (const FormField& field : FormFields{{"q", "one two"}, {"source", "en"}, {"target", "de"}})
    request.body += "--b\r\nContent-Disposition: form-data; name=\"" + field.name + "\"\r\n\r\n" +
                    field.value + "\r\n";
  request.body += "--b--\r\n";
  EXPECT_EQ(json_of(table.ask(request)), json({{"translatedText", "one two"}}));
}

TEST(LibreTranslate, AutoSaysWhatItHasDetected) {
  TableServer table({"en-de", "fr-de"});
  const json answer = json_of(table.post(
      "/translate",
      {{"q", "The men are playing in the park."}, {"source", "auto"}, {"target", "de"}}));
  EXPECT_EQ(answer["detectedLanguage"]["language"], "en");
  EXPECT_GT(answer["detectedLanguage"]["confidence"], 90);
  const json list = json_of(table.post(
      "/translate",
      {{"q", {"Les hommes jouent dans le parc.", "one"}}, {"source", "auto"}, {"target", "de"}}));
  ASSERT_EQ(list["detectedLanguage"].size(), 2u);
  EXPECT_EQ(list["detectedLanguage"][1]["language"], "fr") << "all texts together";
}

TEST(LibreTranslate, ATextInTheTargetLanguageStaysAsItIs) {
  TableServer table({"en-de"});
  const std::string text = "Zwei M\u00e4nner spielen  im Park.";
  const json answer =
      json_of(table.post("/translate", {{"q", text}, {"source", "auto"}, {"target", "de"}}));
  EXPECT_EQ(answer["translatedText"], text);
  EXPECT_EQ(answer["detectedLanguage"]["language"], "de");
}

TEST(LibreTranslate, ATextThatGivesNoHintOfItsLanguageIsTranslated) {
  TableServer table({"en-de"});
  const json answer =
      json_of(table.post("/translate", {{"q", "12"}, {"source", "auto"}, {"target", "de"}}));
  EXPECT_EQ(answer["detectedLanguage"], json({{"confidence", 0}, {"language", "en"}}));
}

TEST(LibreTranslate, ATargetThatNoModelHasIsRefusedWithSourceAuto) {
  TableServer table({"en-de"});
  json body = {{"q", "The men are playing."}, {"source", "auto"}, {"target", "en"}};
  const HttpResponse refused = table.post("/translate", body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(error_of(refused), Names("English (en) ... target"));
  body["source"] = "en";
  EXPECT_EQ(table.post("/translate", body).status, 200) << "its source is said";
}

TEST(LibreTranslate, AlternativesAreOtherTextsThanTheBest) {
  TableServer table({"en-de"});
  json body = {{"q", "one two\nthree"}, {"source", "en"}, {"target", "de"}, {"alternatives", 3}};
  const json answer = json_of(table.post("/translate", body));
  ASSERT_GE(answer["alternatives"].size(), 1u);
  ASSERT_LE(answer["alternatives"].size(), 3u);
  for (const json& other : answer["alternatives"]) {
    EXPECT_NE(other, answer["translatedText"]);
    EXPECT_EQ(std::ranges::count(other.get<std::string>(), '\n'), 1);
  }
  body["q"] = {"one", "two"};
  EXPECT_EQ(json_of(table.post("/translate", body))["alternatives"].size(), 2u) << "of each text";
  body["alternatives"] = "0";
  EXPECT_FALSE(json_of(table.post("/translate", body)).contains("alternatives"));
}

TEST(LibreTranslate, CodesMayBeInUpperCaseAndHaveOtherNames) {
  TableServer table({"en-de", "en-pt-BR", "en-zh", "en-zt"});
  for (const auto& [source, target] :
       std::vector<std::pair<std::string, std::string>>{{"EN", "De"},
                                                        {"AUTO", "DE"},
                                                        {"en", "pt-br"},
                                                        {"en", "pb"},
                                                        {"en", "PB"},
                                                        {"en", "zh-Hans"},
                                                        {"en", "ZH-HANS"},
                                                        {"en", "zh-Hant"},
                                                        {"pb", "pt-br"}}) {
    const json body = {{"q", "one"}, {"source", source}, {"target", target}};
    EXPECT_EQ(table.post("/translate", body).status, 200) << body;
  }
  TableServer by_alias({"en-pb"});
  for (const char* target : {"pt-BR", "PT-BR", "pb"})
    EXPECT_EQ(
        by_alias.post("/translate", {{"q", "one"}, {"source", "en"}, {"target", target}}).status,
        200)
        << target;
  const HttpResponse unknown =
      by_alias.post("/translate", {{"q", "one"}, {"source", "en"}, {"target", "ZH-Hans"}});
  EXPECT_THAT(error_of(unknown), Names("ZH-Hans")) << "the code as it was sent";
}

TEST(LibreTranslate, AMissingOrWrongFieldIs400AndNamed) {
  TableServer table({"en-de", "de-fr"}, {.limits = {.characters = 20, .texts = 2}});
  const json good = {{"q", "one"}, {"source", "en"}, {"target", "de"}};
  ASSERT_EQ(table.post("/translate", good).status, 200);
  const std::vector<std::pair<json, std::string>> bad = {
      {{{"q", nullptr}}, "missing q parameter"},
      {{{"q", ""}}, "missing q parameter"},
      {{{"q", json::array()}}, "missing q parameter"},
      {{{"q", 7}}, "q parameter ... text"},
      {{{"q", {"a", 7}}}, "q parameter ... item"},
      {{{"source", nullptr}}, "missing source parameter"},
      {{{"target", ""}}, "missing target parameter"},
      {{{"source", "xx"}}, "xx is not supported"},
      {{{"target", "auto"}}, "auto is not supported"},
      {{{"source", "fr"}}, "German (de) ... French (fr)"},
      {{{"format", "rtf"}}, "rtf format is not supported"},
      {{{"format", "pdf"}}, "pdf format is not supported"},
      {{{"alternatives", 11}}, "alternatives parameter ... 10"},
      {{{"alternatives", "many"}}, "alternatives parameter ... number"},
      {{{"q", std::string(21, 'x')}}, "21 characters ... limit ... 20"},
      {{{"q", {"a", "b", "c"}}}, "3 texts ... limit ... 2"}};
  for (const auto& [change, fault] : bad) {
    json body = good;
    body.update(change);
    const HttpResponse response = table.post("/translate", body);
    EXPECT_EQ(response.status, 400) << change;
    EXPECT_THAT(error_of(response), Names(fault)) << change;
  }
  json umlauts = good;
  umlauts["q"] = "\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4";
  EXPECT_EQ(table.post("/translate", umlauts).status, 200) << "characters, not bytes";
  HttpRequest broken = TableServer::request_of("/translate", good);
  broken.body = "{\"q\": \"one\"";
  EXPECT_EQ(table.ask(broken).status, 400);
  broken.body = "{\"q\": \"\xff\"}";
  EXPECT_EQ(table.ask(broken).status, 400);
}

TEST(LibreTranslate, TermsCountAmongTheCharacters) {
  TableServer table({"en-de"}, {.limits = {.characters = 20}});
  json body = {{"q", "one two"}, {"source", "en"}, {"target", "de"}, {"terms", "one=two"}};
  EXPECT_EQ(table.post("/translate", body).status, 200);
  body["terms"] = "one=two\ntwo=three";
  const HttpResponse refused = table.post("/translate", body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(json_of(refused)["error"],
              testing::HasSubstr("(24 characters) exceeds text limit (20)"));
  body["terms"] = std::string(21, 'x');
  EXPECT_THAT(error_of(table.post("/translate", body)), testing::HasSubstr("exceeds text limit"))
      << "before the terms are read";
}

TEST(LibreTranslate, ASourceTermHasOneTargetTerm) {
  TableServer table({"en-de"});
  json body = {{"q", "one"}, {"source", "en"}, {"target", "de"}, {"terms", "one=two\none=two"}};
  EXPECT_EQ(table.post("/translate", body).status, 200);
  body["terms"] = "one=two\none=three";
  const HttpResponse refused = table.post("/translate", body);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(error_of(refused), Names("'one' ... 'two' ... 'three'"));
}

TEST(LibreTranslate, ATextOfAsManyCharactersAsTheLimitIsDetected) {
  TableServer table({"en-de"}, {.limits = {.characters = 5}});
  EXPECT_EQ(table.post("/detect", {{"q", "Hello"}}).status, 200);
  EXPECT_EQ(table.post("/detect", {{"q", "Hello!"}}).status, 400);
}

TEST(LibreTranslate, DetectNamesOneOfTheLanguagesServed) {
  TableServer table({"en-de"});
  const HttpResponse response = table.post("/detect", {{"q", "The men are playing in the park."}});
  const json answer = json_of(response);
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0]["language"], "en");
  EXPECT_GT(answer[0]["confidence"], 90);
  EXPECT_EQ(json_of(table.post("/detect", {{"q", "12"}}))[0]["confidence"], 0);
  EXPECT_EQ(table.post("/detect", json::object()).status, 400);
  EXPECT_EQ(table.post("/detect", {{"q", ""}}).status, 400);
}

TEST(LibreTranslate, LanguagesSayTheirTargets) {
  TableServer table({"en-de", "de-fr"});
  EXPECT_EQ(json_of(table.get("/languages")),
            parse_json(R"([{"code": "de", "name": "German", "targets": ["de", "fr"]},
                            {"code": "en", "name": "English", "targets": ["de", "en", "fr"]},
                            {"code": "fr", "name": "French", "targets": ["fr"]}])"));
}

TEST(LibreTranslate, FrontendSettingsHaveTheFieldsThatPagesRead) {
  TableServer table({"en-de"}, {.limits = {.characters = 500, .body_bytes = 3'000}});
  const json settings = json_of(table.get("/frontend/settings"));
  EXPECT_EQ(settings["charLimit"], 500);
  EXPECT_EQ(settings["bodyLimit"], 3'000);
  EXPECT_EQ(settings["apiKeys"], false);
  EXPECT_EQ(settings["suggestions"], false);
  EXPECT_EQ(settings["frontendTimeout"], 500);
  EXPECT_EQ(settings["language"]["source"]["code"], "auto");
  EXPECT_EQ(settings["language"]["target"]["name"], "German");
}

TEST(LibreTranslate, TheFirstTargetIsThatOfTheModelThatWasAddedFirst) {
  TableServer table({"en-fr", "en-de", "de-en"});
  const json target = json_of(table.get("/frontend/settings"))["language"]["target"];
  EXPECT_EQ(target, json({{"code", "fr"}, {"name", "French"}}));
  EXPECT_THAT(table.get("/").body, testing::HasSubstr("<option value=\"fr\" selected>"));
}

TEST(LibreTranslate, SuggestionsAreKeptIfTheServerTakesThem) {
  const json good = {{"q", "one"}, {"s", "eins"}, {"source", "en"}, {"target", "de"}};
  TableServer closed({"en-de"});
  EXPECT_EQ(closed.post("/suggest", good).status, 403);
  const ScratchFile file("suggestions.jsonl");
  TableServer table({"en-de"}, {.suggestions = std::make_shared<AppendFile>(file.path())});
  EXPECT_EQ(json_of(table.post("/suggest", good)), json({{"success", true}}));
  json bad = good;
  bad.erase("s");
  EXPECT_EQ(table.post("/suggest", bad).status, 400);
  EXPECT_EQ(parse_json(read_file(file.path())), good);
}

TEST(LibreTranslate, ASuggestionNamesLanguagesByTheServersCodes) {
  const ScratchFile file("suggestions.jsonl");
  TableServer table({"en-pt-BR"}, {.suggestions = std::make_shared<AppendFile>(file.path())});
  json suggestion = {{"q", "one"}, {"s", "um"}, {"source", "EN"}, {"target", "pb"}};
  EXPECT_EQ(table.post("/suggest", suggestion).status, 200);
  suggestion["source"] = "en";
  suggestion["target"] = "pt-BR";
  EXPECT_EQ(parse_json(read_file(file.path())), suggestion);
}

TEST(LibreTranslate, ASuggestionDoesNotWaitForAFileThatAnotherProcessHasLocked) {
  const json good = {{"q", "one"}, {"s", "eins"}, {"source", "en"}, {"target", "de"}};
  const ScratchFile file("suggestions.jsonl");
  TableServer table({"en-de"}, {.suggestions = std::make_shared<AppendFile>(file.path())});
  const int other = open(file.path().c_str(), O_WRONLY);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  auto refused = table.send(TableServer::request_of("/suggest", good));
  const bool is_answered = refused.wait_for(std::chrono::seconds(5)) == std::future_status::ready;
  close(other);
  ASSERT_TRUE(is_answered);
  const HttpResponse response = refused.get();
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(header_of(response, "Retry-After"), "1");
  EXPECT_EQ(read_file(file.path()), "");
  EXPECT_EQ(table.post("/suggest", good).status, 200);
}

}  // namespace
}  // namespace dragoman
