// DeepL's glossaries of several languages (version 3), as a client sees them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/files.h"
#include "base/json.h"
#include "tests/extras/server/table_server.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json dictionary(const std::string& source, const std::string& target, const std::string& entries) {
  return {{"source_lang", source},
          {"target_lang", target},
          {"entries", entries},
          {"entries_format", "tsv"}};
}

class MultilingualGlossaries : public testing::Test {
 protected:
  HttpResponse send(const std::string& method, const std::string& path,
                    const json& body = json::object()) {
    HttpRequest request = TableServer::request_of("/v3/glossaries" + path, body);
    request.method = method;
    return table_.ask(request);
  }
  json made(const json& dictionaries) {
    const HttpResponse response =
        send("POST", "", {{"name", "mine"}, {"dictionaries", dictionaries}});
    EXPECT_EQ(response.status, 201) << response.body;
    return json_of(response);
  }
  std::string entries(const std::string& id, const std::string& source, const std::string& target) {
    const HttpResponse response =
        table_.ask({.method = "GET",
                    .path = "/v3/glossaries/" + id + "/entries",
                    .query = {{"source_lang", source}, {"target_lang", target}}});
    if (response.status != 200) return std::to_string(response.status);
    return json_of(response)["dictionaries"][0]["entries"];
  }

  const ScratchFolder folder_{testing::TempDir() + "multilingual-glossaries-"};
  TableServer table_{{"en-de", "de-en"},
                     {.glossaries = std::make_shared<Glossaries>(folder_.path())}};
};

TEST_F(MultilingualGlossaries, EachDictionaryIsForItsLanguages) {
  const json glossary =
      made({dictionary("en", "de", "one\tsix"), dictionary("DE", "EN", "one\tfive")});
  const std::string id = glossary["glossary_id"];
  EXPECT_EQ(glossary["dictionaries"],
            parse_json(R"([{"source_lang": "en", "target_lang": "de", "entry_count": 1},
                            {"source_lang": "de", "target_lang": "en", "entry_count": 1}])"));
  EXPECT_EQ(json_of(send("GET", "/" + id)), glossary);
  EXPECT_EQ(json_of(send("GET", ""))["glossaries"], json({glossary}));
  for (const auto& [source, target, term] :
       {std::tuple("EN", "DE", "six"), std::tuple("DE", "EN-US", "five")})
    for (const json& named : {json{{"glossary_id", id}}, json{{"glossary_ids", {id}}}}) {
      json body = {{"text", {"one two"}}, {"source_lang", source}, {"target_lang", target}};
      body.update(named);
      EXPECT_THAT(table_.post("/v2/translate", body).body, HasSubstr(term)) << body;
    }
  EXPECT_EQ(table_
                .post("/v2/translate", {{"text", {"one"}},
                                        {"source_lang", "EN"},
                                        {"target_lang", "DE"},
                                        {"glossary_ids", {id, id}}})
                .status,
            400);
}

TEST_F(MultilingualGlossaries, GlossariesAreChangedInParts) {
  const std::string id =
      made(json::array({dictionary("en", "de", "one\tsix\ntwo\tfive")}))["glossary_id"];
  const json renamed = json_of(send("PATCH", "/" + id, {{"name", "other"}}));
  EXPECT_EQ(renamed["name"], "other");
  EXPECT_EQ(entries(id, "EN", "DE"), "one\tsix\ntwo\tfive\n");
  const json merged = json_of(send(
      "PATCH", "/" + id, {{"dictionaries", {dictionary("en", "de", "one\tFour\nman\tgirl")}}}));
  EXPECT_EQ(merged["dictionaries"][0]["entry_count"], 3);
  EXPECT_EQ(entries(id, "EN", "DE"), "two\tfive\none\tFour\nman\tgirl\n");
  EXPECT_EQ(json_of(send("PUT", "/" + id + "/dictionaries", dictionary("en", "de", "a\tb"))),
            json({{"source_lang", "en"}, {"target_lang", "de"}, {"entry_count", 1}}));
  EXPECT_EQ(entries(id, "en", "de"), "a\tb\n");
  EXPECT_EQ(send("PUT", "/" + id + "/dictionaries", dictionary("de", "en", "c\td")).status, 200);
  const HttpRequest remove{.method = "DELETE",
                           .path = "/v3/glossaries/" + id + "/dictionaries",
                           .query = {{"source_lang", "EN"}, {"target_lang", "DE"}}};
  EXPECT_EQ(table_.ask(remove).status, 204);
  EXPECT_EQ(table_.ask(remove).status, 404);
  EXPECT_EQ(entries(id, "en", "de"), "404");
  EXPECT_EQ(entries(id, "de", "en"), "c\td\n");
  EXPECT_EQ(send("DELETE", "/" + id).status, 204);
  EXPECT_EQ(send("GET", "/" + id).status, 404);
}

TEST_F(MultilingualGlossaries, FormsNumberTheDictionaries) {
  const HttpResponse response = table_.ask(
      {.method = "POST",
       .path = "/v3/glossaries",
       .headers = {{"content-type", "application/x-www-form-urlencoded"}},
       .body = "name=n&dictionaries%5B0%5D.source_lang=EN&dictionaries%5B0%5D.target_lang=DE"
               "&dictionaries%5B0%5D.entries=one%09six&dictionaries%5B0%5D.entries_format=tsv"
               "&dictionaries%5B1%5D.source_lang=de&dictionaries%5B1%5D.target_lang=en"
               "&dictionaries%5B1%5D.entries=six,one&dictionaries%5B1%5D.entries_format=csv"});
  ASSERT_EQ(response.status, 201) << response.body;
  const std::string id = json_of(response)["glossary_id"];
  EXPECT_EQ(entries(id, "en", "de"), "one\tsix\n");
  EXPECT_EQ(entries(id, "de", "en"), "six\tone\n");
}

TEST_F(MultilingualGlossaries, VersionTwoHasThoseOfOneDictionary) {
  const std::string one = made(json::array({dictionary("en", "de", "a\tb")}))["glossary_id"];
  const std::string two =
      made({dictionary("en", "de", "a\tb"), dictionary("de", "en", "a\tb")})["glossary_id"];
  const json listed = json_of(table_.get("/v2/glossaries"))["glossaries"];
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0]["glossary_id"], one);
  EXPECT_EQ(listed[0]["entry_count"], 1);
  EXPECT_EQ(table_.get("/v2/glossaries/" + one + "/entries").body, "a\tb\n");
  const HttpResponse response = table_.get("/v2/glossaries/" + two);
  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(json_of(response)["detail"], HasSubstr("/v3/glossaries"));
}

TEST_F(MultilingualGlossaries, AWrongRequestIsRefusedAndChangesNothing) {
  const json good = dictionary("en", "de", "a\tb");
  const std::string id = made(json::array({good}))["glossary_id"];
  for (const json& dictionaries :
       {json::array(), json("en"), json::array({"en"}),
        json::array({dictionary("en", "fr", "a\tb")}), json::array({dictionary("en", "de", "a")}),
        json::array({json{{"source_lang", json::array({"en"})}}})}) {
    const json body = {{"name", "n"}, {"dictionaries", dictionaries}};
    EXPECT_EQ(send("POST", "", body).status, 400) << body;
  }
  EXPECT_EQ(send("POST", "", {{"dictionaries", {good}}}).status, 400) << "no name";
  EXPECT_EQ(send("PATCH", "/" + id).status, 400) << "nothing to change";
  EXPECT_EQ(send("PATCH", "/" + id, {{"name", std::string(1025, 'n')}}).status, 400);
  EXPECT_EQ(send("PUT", "/" + id, good).status, 404) << "the path names no dictionary";
  EXPECT_EQ(send("PATCH", "/x", {{"name", "n"}}).status, 404);
  EXPECT_EQ(json_of(send("GET", ""))["glossaries"].size(), 1u);
  EXPECT_EQ(entries(id, "en", "de"), "a\tb\n");
}

}  // namespace
}  // namespace dragoman
