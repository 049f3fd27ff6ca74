// DeepL's interface, as a client sees it.

#include "base/json.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using nlohmann::json;

json translations_of(const HttpResponse& response) {
  EXPECT_EQ(response.status, 200) << response.body;
  return json_of(response).at("translations");
}

TEST(DeepL, TextsAreTranslatedEachFromItsLanguage) {
  TableServer table({"en-de", "fr-de"});
  const json answers = translations_of(
      table.post("/v2/translate",
                 {{"text", {"The men are playing in the park.", "Les hommes jouent dans le parc."}},
                  {"target_lang", "DE"},
                  {"show_billed_characters", true}}));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]["detected_source_language"], "EN");
  EXPECT_EQ(answers[1]["detected_source_language"], "FR");
  EXPECT_EQ(answers[0]["billed_characters"], 32);
  EXPECT_FALSE(answers[0].contains("pivot_language"));
}

TEST(DeepL, ATargetThatNoModelHasIsRefusedWithoutASource) {
  TableServer table({"en-de"});
  const HttpResponse refused =
      table.post("/v2/translate", {{"text", {"The men are playing."}}, {"target_lang", "EN"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(json_of(refused)["message"], "Value for 'target_lang' not supported.");
}

TEST(DeepL, FormsRepeatTheText) {
  TableServer table({"en-de"});
  const HttpRequest request{.method = "POST",
                            .path = "/v2/translate",
                            .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                            .body = "text=one&text=two&source_lang=EN&target_lang=DE"};
  EXPECT_EQ(translations_of(table.ask(request)),
            parse_json(R"([{"detected_source_language": "EN", "text": "one"},
                            {"detected_source_language": "EN", "text": "two"}])"));
}

TEST(DeepL, CodesMayHaveRegionsThatModelsLack) {
  TableServer table({"de-en", "en-pt-BR"});
  for (const char* target : {"EN", "EN-US", "en-gb"})
    EXPECT_EQ(table
                  .post("/v2/translate",
                        {{"text", "one"}, {"source_lang", "DE"}, {"target_lang", target}})
                  .status,
              200)
        << target;
  for (const char* target : {"PT-BR", "PT"})
    EXPECT_EQ(table
                  .post("/v2/translate",
                        {{"text", "one"}, {"source_lang", "EN"}, {"target_lang", target}})
                  .status,
              200)
        << target;
  EXPECT_EQ(table.post("/v2/translate", {{"text", "one"}, {"target_lang", "PT-PT"}}).status, 400);
}

TEST(DeepL, ACodeFindsAModelThatIsNamedByLibreTranslatesCode) {
  TableServer simplified({"en-zh-Hans"});
  for (const auto& [code, status] : {std::pair("ZH", 200), std::pair("ZH-HANT", 400)}) {
    const json body = {{"text", "one"}, {"source_lang", "EN"}, {"target_lang", code}};
    EXPECT_EQ(simplified.post("/v2/translate", body).status, status) << code;
  }
  TableServer table({"en-zh", "en-zt", "en-pb"});
  for (const auto& [code, served] : std::vector<std::pair<std::string, std::string>>{
           {"ZH-HANT", "zt"}, {"ZH-HANS", "zh"}, {"ZH", "zh"}, {"PT-BR", "pb"}}) {
    const json body = {{"text", "one"}, {"source_lang", "EN"}, {"target_lang", code}};
    EXPECT_EQ(table.post("/v2/translate", body).status, 200) << code;
    EXPECT_EQ(table.answered().back().languages, "en-" + served) << code;
  }
}

TEST(DeepL, SplitSentencesDecidesAboutLines) {
  TableServer table({"en-de"});
  const auto translate = [&](const json& split) {
    return translations_of(table.post("/v2/translate", {{"text", {"one two\nthree\n"}},
                                                        {"source_lang", "EN"},
                                                        {"target_lang", "DE"},
                                                        {"split_sentences", split}}))[0]["text"]
        .get<std::string>();
  };
  for (const json& split : {json("1"), json(1), json(true), json("True"), json(nullptr)})
    EXPECT_EQ(translate(split), "one two\nthree\n");
  for (const json& split : {json("0"), json(0), json(false), json("False"), json("nonewlines")})
    EXPECT_EQ(translate(split), "one two three\n");
}

TEST(DeepL, SplitSentencesSplitsTheLinesOfAModelOfWholeLines) {
  TableServer table({"de-en"}, {}, 65'536, 1'000'000);
  table.add("en-de", 65'536, nullptr, 1);
  const auto sentences = [&](const json& split) {
    const auto looked_up = [&table] {
      const auto counts = table.models.find({"en", "de"})->service().cache_counts();
      return counts.found + counts.missed;
    };
    const std::int64_t before = looked_up();
    const std::string text = "one five. Four two";
    EXPECT_EQ(translations_of(table.post("/v2/translate", {{"text", {text}},
                                                           {"source_lang", "EN"},
                                                           {"target_lang", "DE"},
                                                           {"split_sentences", split}}))[0]["text"],
              text);
    return looked_up() - before;
  };
  for (const json& split : {json(nullptr), json("0"), json(false)})
    EXPECT_EQ(sentences(split), 1) << split;
  for (const json& split : {json("1"), json(1), json(true), json("True"), json("nonewlines")})
    EXPECT_EQ(sentences(split), 2) << split;
}

TEST(DeepL, AMissingOrWrongFieldIs400AndNamed) {
  TableServer table({"en-de", "de-fr"});
  const json good = {{"text", {"one"}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  ASSERT_EQ(table.post("/v2/translate", good).status, 200);
  const std::vector<std::pair<json, std::string>> bad = {
      {{{"text", nullptr}}, "'text' not specified"},
      {{{"text", json::array()}}, "'text' not specified"},
      {{{"text", {3}}}, "text parameter ... item"},
      {{{"target_lang", nullptr}}, "'target_lang' not specified"},
      {{{"target_lang", "XX"}}, "'target_lang' not supported"},
      {{{"source_lang", "XX"}}, "'source_lang' not supported"},
      {{{"source_lang", "FR"}}, "FR ... DE"},
      {{{"split_sentences", "2"}}, "'split_sentences' not supported"},
      {{{"tag_handling", "rtf"}}, "'tag_handling' not supported"},
      {{{"tag_handling", "xml"}, {"text", "<a>one"}},
       "Tag handling parsing failed ... xml ... line 1 ... column 7 ... element"},
      {{{"glossary_id", "x"}}, "--glossaries"},
      {{{"formality", "more"}}, "'formality' is not supported"},
      {{{"preserve_formatting", "maybe"}}, "preserve_formatting"}};
  for (const auto& [change, fault] : bad) {
    json body = good;
    body.update(change);
    const HttpResponse response = table.post("/v2/translate", body);
    EXPECT_EQ(response.status, 400) << change;
    EXPECT_THAT(json_of(response).at("message").get<std::string>(), Names(fault)) << change;
  }
}

TEST(DeepL, TooMuchAtOnceIs413) {
  TableServer table({"en-de"}, {.limits = {.characters = 20, .texts = 2}});
  const auto status = [&](const json& texts) {
    return table
        .post("/v2/translate", {{"text", texts}, {"source_lang", "EN"}, {"target_lang", "DE"}})
        .status;
  };
  EXPECT_EQ(status({"one", "two"}), 200);
  EXPECT_EQ(status({"one", "two", "three"}), 413);
  EXPECT_EQ(status({std::string(21, 'x')}), 413);
}

TEST(DeepL, WhatItDoesNotHaveIsRefusedInItsForm) {
  TableServer table({"en-de"});
  for (const char* path : {"/v2/write/rephrase", "/v2/rephrase", "/v3/style_rules"}) {
    const HttpResponse response = table.post(path, {{"text", {"one"}}});
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(json_of(response).at("message"), testing::HasSubstr(path));
  }
}

TEST(DeepL, LanguagesAreSourcesOrTargets) {
  TableServer table({"en-de", "de-en"});
  const auto codes = [&](const std::string& type) {
    std::vector<std::string> all;
    HttpRequest request{.method = "GET", .path = "/v2/languages", .query = {{"type", type}}};
    for (const json& language : json_of(table.ask(request))) all.push_back(language["language"]);
    return all;
  };
  EXPECT_EQ(codes(""), (std::vector<std::string>{"DE", "EN"}));
  EXPECT_EQ(codes("source"), (std::vector<std::string>{"DE", "EN"}));
  EXPECT_EQ(codes("target"), (std::vector<std::string>{"DE", "EN-GB", "EN-US"}));
  // DeepL's client for Python sends the parameter in the body of a GET.
  HttpRequest request{.method = "GET",
                      .path = "/v2/languages",
                      .headers = {{"content-type", "application/x-www-form-urlencoded"}},
                      .body = "type=target"};
  EXPECT_EQ(json_of(table.ask(request)).size(), 3u);
  request.body = "type=both";
  EXPECT_EQ(table.ask(request).status, 400);
}

TEST(DeepL, TheSchemeOfAKeyMayBeInAnyCaseWithBlanksAroundTheKey) {
  const ScratchFile file("keys.txt", "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  const auto status = [&](const std::string& header) {
    return table.ask({.method = "GET", .path = "/v2/usage", .headers = {{"authorization", header}}})
        .status;
  };
  for (const char* header :
       {"deepl-auth-key alpha", "DEEPL-AUTH-KEY alpha", "DeepL-Auth-Key  \talpha "})
    EXPECT_EQ(status(header), 200) << header;
  for (const char* header : {"DeepL-Auth-Key Alpha", "DeepL-Auth-Key", "DeepL-Auth-Key ",
                             "DeepL-Auth-Keyalpha", "Basic alpha", "DeepL-Auth-Key \xff"})
    EXPECT_EQ(status(header), 403) << header;
}

TEST(DeepL, KeysAreAskedForCountedAndUsedUp) {
  const ScratchFile file("keys.txt", "alpha 10\nbeta\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  const auto ask = [&](const std::string& key, const std::string& path, const json& body) {
    HttpRequest request = TableServer::request_of(path, body);
    if (!key.empty()) request.headers["authorization"] = "DeepL-Auth-Key " + key;
    return table.ask(request);
  };
  const json body = {{"text", {"one two"}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  EXPECT_EQ(ask("", "/v2/translate", body).status, 403);
  EXPECT_EQ(ask("gamma", "/v2/translate", body).status, 403);
  EXPECT_EQ(ask("alpha", "/v2/translate", body).status, 200);
  const HttpResponse used_up = ask("alpha", "/v2/translate", body);
  EXPECT_EQ(used_up.status, 456);
  EXPECT_TRUE(json_of(used_up).contains("message"));
  EXPECT_EQ(ask("beta", "/v2/translate", body).status, 200);
  EXPECT_EQ(json_of(ask("alpha", "/v2/usage", json::object())),
            json({{"character_count", 7}, {"character_limit", 10}}));
  EXPECT_EQ(json_of(ask("beta", "/v2/usage", json::object())),
            json({{"character_count", 7}, {"character_limit", 1'000'000'000'000}}));
  EXPECT_EQ(ask("", "/v2/usage", json::object()).status, 403);
  EXPECT_EQ(ask("", "/v2/languages", json::object()).status, 403);
}

TEST(DeepL, OldClientsAskByGet) {
  TableServer table({"en-de"});
  const HttpResponse answer =
      table.ask({.method = "GET",
                 .path = "/v2/translate",
                 .query = {{"text", "one"}, {"source_lang", "EN"}, {"target_lang", "DE"}}});
  EXPECT_EQ(translations_of(answer)[0]["text"], "one");
}

TEST(DeepL, ValuesThatNobodyKnowsAreRefused) {
  TableServer table({"en-de"});
  const auto ask = [&table](const char* name, const char* value) {
    return table.post(
        "/v2/translate",
        {{"text", {"one"}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {name, value}});
  };
  for (const char* name : {"formality", "model_type", "tag_handling_version"}) {
    EXPECT_EQ(ask(name, "other").status, 400) << name;
    EXPECT_EQ(json_of(ask(name, "other"))["message"],
              "Value for '" + std::string(name) + "' not supported.");
    EXPECT_EQ(ask(name, "").status, 200) << name;
  }
  for (const char* formality : {"default", "prefer_more", "prefer_less"})
    EXPECT_EQ(ask("formality", formality).status, 200) << formality;
  EXPECT_EQ(ask("tag_handling_version", "v2").status, 200);
  for (const auto& [asked, used] : {std::pair("quality_optimized", "quality_optimized"),
                                    std::pair("prefer_quality_optimized", "quality_optimized"),
                                    std::pair("latency_optimized", "latency_optimized")})
    EXPECT_EQ(translations_of(ask("model_type", asked))[0]["model_type_used"], used);
  EXPECT_FALSE(translations_of(ask("formality", ""))[0].contains("model_type_used"));
}

}  // namespace
}  // namespace dragoman
