// Glossaries that are kept, and DeepL's interface to them.
#include "extras/server/glossaries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/extras/server/table_server.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// With one term, "one".
Glossary glossary(const LanguagePair& languages, const std::string& target) {
  return {.facts = {.name = "x"},
          .dictionaries = {{.languages = languages, .entries = {{"one", target}}}}};
}

class KeptGlossaries : public testing::Test {
 protected:
  ServerConfig config() const {
    return {.glossaries = std::make_shared<Glossaries>(folder_.path())};
  }
  static json terms(const std::string& entries, const std::string& format = "tsv") {
    return {{"name", "mine"},
            {"source_lang", "en"},
            {"target_lang", "DE"},
            {"entries", entries},
            {"entries_format", format}};
  }

  const ScratchFolder folder_{testing::TempDir() + "glossaries-"};
};

TEST_F(KeptGlossaries, GlossariesAreMadeListedReadAndDeleted) {
  std::string id;
  json made;
  {
    TableServer table({"en-de"}, config());
    const HttpResponse response = table.post("/v2/glossaries", terms("one\ttwo\nFour\tsix,\n"));
    ASSERT_EQ(response.status, 201) << response.body;
    made = json_of(response);
    id = made["glossary_id"];
    EXPECT_EQ(made["entry_count"], 2);
    EXPECT_EQ(made["source_lang"], "en");
    EXPECT_EQ(made["target_lang"], "de");
    EXPECT_EQ(made["ready"], true);
    EXPECT_THAT(made["creation_time"].get<std::string>(),
                testing::MatchesRegex("20..-..-..T..:..:..\\.......Z"))
        << "DeepL's client wants the fraction";
  }
  TableServer again({"en-de"}, config());  // after a restart
  EXPECT_EQ(json_of(again.get("/v2/glossaries")), json({{"glossaries", {made}}}));
  EXPECT_EQ(json_of(again.get("/v2/glossaries/" + id)), made);
  const HttpResponse entries = again.get("/v2/glossaries/" + id + "/entries");
  EXPECT_EQ(entries.body, "one\ttwo\nFour\tsix,\n");
  EXPECT_THAT(entries.type, HasSubstr("text/tab-separated-values"));
  const HttpRequest remove{.method = "DELETE", .path = "/v2/glossaries/" + id};
  EXPECT_EQ(again.ask(remove).status, 204);
  EXPECT_EQ(again.ask(remove).status, 404);
  EXPECT_EQ(again.get("/v2/glossaries/" + id).status, 404);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(KeptGlossaries, ATranslationHasTheTermsOfItsGlossary) {
  TableServer table({"en-de", "de-en"}, config());
  const std::string id =
      json_of(table.post("/v2/glossaries", terms("\"one\",three\n", "csv")))["glossary_id"];
  json body = {{"text", {"one two"}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  EXPECT_EQ(json_of(table.post("/v2/translate", body))["translations"][0]["text"], "one two");
  body["glossary_id"] = id;
  EXPECT_THAT(json_of(table.post("/v2/translate", body))["translations"][0]["text"],
              HasSubstr("three"));
  body["target_lang"] = "EN";
  body["source_lang"] = "DE";
  EXPECT_EQ(table.post("/v2/translate", body).status, 400) << "for other languages";
  body.erase("source_lang");
  EXPECT_EQ(table.post("/v2/translate", body).status, 400);
  body["source_lang"] = "DE";
  body["glossary_id"] = "../" + id;
  EXPECT_EQ(table.post("/v2/translate", body).status, 404);
}

TEST_F(KeptGlossaries, LanguagesAreNamedWithoutRegionsAsInDeepL) {
  const auto kept = std::make_shared<Glossaries>(folder_.path());
  const std::string old = kept->keep(glossary({"fr", "pt-BR"}, "six")).value().id;
  TableServer table({"fr-pt-BR", "fr-pt", "en-de"}, {.glossaries = kept});
  json body = terms("one\tthree");
  body["source_lang"] = "FR";
  for (const char* target : {"PT", "pt-br"}) {
    body["target_lang"] = target;
    const HttpResponse made = table.post("/v2/glossaries", body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(json_of(made)["target_lang"], "pt") << target;
  }
  const json listed = json_of(table.get("/v2/glossaries"))["glossaries"];
  ASSERT_EQ(listed.size(), 3u);
  for (const json& glossary : listed) {
    EXPECT_EQ(glossary["target_lang"], "pt");
    const std::string id = glossary["glossary_id"];
    for (const char* target : {"PT-BR", "PT"})
      EXPECT_THAT(table
                      .post("/v2/translate", {{"text", {"one two"}},
                                              {"source_lang", "FR"},
                                              {"target_lang", target},
                                              {"glossary_id", id}})
                      .body,
                  HasSubstr(id == old ? "six" : "three"));
  }
  EXPECT_EQ(json_of(table.get("/v2/glossary-language-pairs"))["supported_languages"],
            parse_json(R"([{"source_lang": "en", "target_lang": "de"},
                            {"source_lang": "fr", "target_lang": "pt"}])"));
}

TEST_F(KeptGlossaries, AGlossaryMayBeOfALanguageThatOneOfItsRegionsAloneIsTranslatedInto) {
  TableServer table({"fr-pt-BR", "en-pt"}, config());
  json body = terms("one\tthree");
  body["source_lang"] = "FR";
  body["target_lang"] = "PT";
  EXPECT_EQ(table.post("/v2/glossaries", body).status, 201);
  body["target_lang"] = "DE";
  EXPECT_EQ(table.post("/v2/glossaries", body).status, 400);
}

TEST_F(KeptGlossaries, ALanguageMayHaveLibreTranslatesCode) {
  TableServer table({"en-pb", "zt-en"}, config());
  for (const auto& [source, target] : {std::pair("EN", "PT"), std::pair("ZH", "EN")}) {
    json body = terms("one\tthree");
    body["source_lang"] = source;
    body["target_lang"] = target;
    const HttpResponse made = table.post("/v2/glossaries", body);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_THAT(table
                    .post("/v2/translate", {{"text", {"one two"}},
                                            {"source_lang", source},
                                            {"target_lang", target},
                                            {"glossary_id", json_of(made)["glossary_id"]}})
                    .body,
                HasSubstr("three"));
  }
}

TEST_F(KeptGlossaries, ALineThatIsNotAnEntryIsRefusedByItsNumber) {
  TableServer table({"en-de"}, config());
  const auto fault = [&](const std::string& entries, const std::string& format = "tsv") {
    const HttpResponse response = table.post("/v2/glossaries", terms(entries, format));
    EXPECT_EQ(response.status, 400) << entries;
    const json error = json_of(response);
    return error.at("message").get<std::string>() + ", " + error.value("detail", "");
  };
  EXPECT_THAT(fault("a\tb\n\nc\n"), HasSubstr("line 3"));
  EXPECT_THAT(fault("a\tb\na\tc\n"), HasSubstr("line 2"));
  EXPECT_THAT(fault("a\tb\tc\n"), HasSubstr("line 1"));
  EXPECT_THAT(fault("a\t \n"), HasSubstr("line 1"));
  EXPECT_THAT(fault("\"a\nb\",c\n", "csv"), HasSubstr("control character"));
  EXPECT_THAT(fault("\n"), HasSubstr("entries"));
  EXPECT_THAT(fault("a\t" + std::string(1025, 'b')), Names("line 1 ... 1024"));
  EXPECT_THAT(fault("a\tb\n", "xml"), HasSubstr("entries_format"));
  json other = terms("a\tb");
  other["target_lang"] = "fr";
  EXPECT_EQ(table.post("/v2/glossaries", other).status, 400);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  const std::string id =
      json_of(table.post("/v2/glossaries", terms("\"a \"\"b\"\", c\",d,en,de\n", "csv")))
          .at("glossary_id");
  EXPECT_EQ(table.get("/v2/glossaries/" + id + "/entries").body, "a \"b\", c\td\n");
}

TEST_F(KeptGlossaries, QuotesOfCsvStandAroundWholeFields) {
  TableServer table({"en-de"}, config());
  const auto fault = [&](const std::string& entries) {
    const HttpResponse response = table.post("/v2/glossaries", terms(entries, "csv"));
    EXPECT_EQ(response.status, 400) << entries;
    return response.body;
  };
  EXPECT_THAT(fault("one,two\ngirl,\"Maid"), Names("line 2 ... quote"));
  EXPECT_THAT(fault("girl,\"Maid\"\""), Names("line 1 ... quote"));
  EXPECT_THAT(fault("girl,M\"ai\"d"), Names("line 1 ... quote ... within"));
  EXPECT_THAT(fault("\"girl\"s,Maid"), Names("line 1 ... after ... quote"));
  const std::string id =
      json_of(table.post("/v2/glossaries", terms(" \"a,\" , \"\"\"b\"\"\" \r\nc,d", "csv")))
          .at("glossary_id");
  EXPECT_EQ(table.get("/v2/glossaries/" + id + "/entries").body, "a,\t\"b\"\nc\td\n");
  const auto get = [&table, &id](const std::string& accepted) {
    return table.ask({.method = "GET",
                      .path = "/v2/glossaries/" + id + "/entries",
                      .headers = {{"accept", accepted}}});
  };
  EXPECT_EQ(get("text/csv").body, "\"a,\",\"\"\"b\"\"\"\nc,d\n");
  EXPECT_THAT(get("text/csv").type, HasSubstr("text/csv"));
  for (const char* accepted : {"text/tab-separated-values", "*/*", "text/*;q=0.5"})
    EXPECT_EQ(get(accepted).body, "a,\t\"b\"\nc\td\n") << accepted;
  EXPECT_EQ(get("application/json").status, 415);
}

TEST_F(KeptGlossaries, AByteOrderMarkIsNotPartOfTheFirstTerm) {
  TableServer table({"en-de"}, config());
  for (const auto& [format, entries] :
       {std::pair("tsv", "\uFEFFone\ttwo\n"), std::pair("csv", "\uFEFF\"one\",two\n")}) {
    const std::string id =
        json_of(table.post("/v2/glossaries", terms(entries, format))).at("glossary_id");
    EXPECT_EQ(table.get("/v2/glossaries/" + id + "/entries").body, "one\ttwo\n") << format;
  }
}

TEST_F(KeptGlossaries, AKeySeesItsOwnGlossaries) {
  const auto keys = folder_.path() / "keys.txt";
  std::ofstream(keys) << "alpha\nbeta\n";
  ServerConfig with_keys = config();
  with_keys.api_keys = std::make_shared<ApiKeys>(keys);
  TableServer table({"en-de"}, with_keys);
  json body = terms("one\ttwo");
  body["auth_key"] = "alpha";
  const std::string path =
      "/v2/glossaries/" +
      json_of(table.post("/v2/glossaries", body))["glossary_id"].get<std::string>();
  const auto status = [&](const std::string& key) {
    return table
        .ask({.method = "GET",
              .path = path,
              .headers = {{"authorization", "DeepL-Auth-Key " + key}}})
        .status;
  };
  EXPECT_EQ(status("alpha"), 200);
  EXPECT_EQ(status("beta"), 404);
  EXPECT_EQ(status("gamma"), 403);
}

TEST_F(KeptGlossaries, AFileThatIsNotAGlossaryIsNamedAtTheStart) {
  const auto file = folder_.path() / "00000000-0000-4000-8000-000000000000.json";
  for (
      const char* text :
      {"", "{}", "\xff", R"({"name": 1})",
       R"({"name":"a","source":"en","target":"de","created":"","owner":"","entries":[["a",""]]})"}) {
    std::ofstream(file) << text;
    EXPECT_THAT([&] { Glossaries{folder_.path()}; },
                testing::ThrowsMessage<Error>(HasSubstr(file.string())))
        << text;
  }
}

TEST_F(KeptGlossaries, AFileWithoutDictionariesIsOneDictionary) {
  const std::string id = "00000000-0000-4000-8000-000000000000";
  std::ofstream(folder_.path() / (id + ".json"))
      << R"({"name":"a","source":"en","target":"de","created":"","owner":"","entries":[["b","c"]]})";
  const GlossaryPointer found = Glossaries(folder_.path()).find(id, "");
  ASSERT_EQ(found->dictionaries.size(), 1u);
  EXPECT_EQ(found->dictionaries[0].languages.name(), "en-de");
  EXPECT_EQ(found->dictionaries[0].entries, (GlossaryEntries{{"b", "c"}}));
}

TEST_F(KeptGlossaries, AGlossaryThatIsKeptAgainStaysTheSameWithOtherContent) {
  Glossaries kept(folder_.path());
  const GlossaryFacts made = kept.keep(glossary({"en", "de"}, "two")).value();
  Glossary other = *kept.find(made.id, "");
  other.dictionaries.push_back({.languages = {"de", "en"}, .entries = {{"a", "b"}, {"c", "d"}}});
  EXPECT_EQ(kept.keep(other).value().created, made.created);
  const std::vector<GlossaryFacts> all = kept.all("");
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].id, made.id);
  EXPECT_EQ(all[0].dictionaries.back(), std::pair(LanguagePair{"de", "en"}, std::size_t{2}));
  EXPECT_EQ(kept.find(made.id, "")->dictionaries[1].demands->of("a", {}).size(), 1u);
}

TEST_F(KeptGlossaries, ADamagedFileLaterIsNobodyElsesFault) {
  TableServer table({"en-de"}, config());
  const json made = json_of(table.post("/v2/glossaries", terms("one\ttwo")));
  const std::string id = "00000000-0000-4000-8000-000000000000";
  std::ofstream(folder_.path() / (id + ".json")) << "{";
  const HttpResponse listed = table.get("/v2/glossaries");
  EXPECT_EQ(listed.status, 200) << listed.body;
  EXPECT_EQ(json_of(listed), json({{"glossaries", {made}}}));
  EXPECT_EQ(table.post("/v2/glossaries", terms("one\tthree")).status, 201);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("dragoman_damaged_glossaries 1\n"));
  for (const HttpResponse& damaged :
       {table.get("/v2/glossaries/" + id), table.get("/v2/glossaries/" + id + "/entries"),
        table.post("/v2/translate", {{"text", {"one"}},
                                     {"source_lang", "EN"},
                                     {"target_lang", "DE"},
                                     {"glossary_id", id}})}) {
    EXPECT_EQ(damaged.status, 500);
    EXPECT_THAT(json_of(damaged)["message"].get<std::string>(), Names("glossary ... log"));
    EXPECT_THAT(table.answered().back().fault, HasSubstr(id));
  }
  EXPECT_EQ(table.answered().front().fault, "");
  std::filesystem::remove(folder_.path() / (id + ".json"));
  EXPECT_EQ(table.get("/v2/glossaries/" + id).status, 404);
  EXPECT_EQ(json_of(table.get("/v2/glossaries"))["glossaries"].size(), 2u);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("dragoman_damaged_glossaries 0\n"));
}

TEST_F(KeptGlossaries, AnotherServerMayDeleteAGlossaryAtAnyTime) {
  Glossaries first(folder_.path()), second(folder_.path());
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const auto made = second.keep(glossary({"en", "de"}, "two"));
      EXPECT_TRUE(made && second.remove(made->id, ""));
    }
  });
  for (int i = 0; i < 3'000; ++i) {
    std::vector<GlossaryFacts> found;
    EXPECT_NO_THROW(found = first.all(""));
    for (const GlossaryFacts& facts : found) EXPECT_NO_THROW(first.find(facts.id, ""));
  }
  EXPECT_EQ(first.damaged(), 0);
}

TEST_F(KeptGlossaries, TheBytesOfAnOwnerHaveABound) {
  Glossaries kept(folder_.path());
  const auto large = [](const std::string& owner) {
    Glossary made = glossary({"en", "de"}, std::string(3'000'000, 'x'));
    made.facts.owner = owner;
    return made;
  };
  std::string last;
  for (int i = 0; i < 3; ++i) last = kept.keep(large("a")).value().id;
  EXPECT_FALSE(kept.keep(large("a")));
  EXPECT_TRUE(kept.keep(large("b")));
  EXPECT_TRUE(kept.remove(last, "a"));
  EXPECT_TRUE(kept.keep(large("a")));
}

TEST_F(KeptGlossaries, OnlyTheLastUsedGlossariesStayInMemory) {
  Glossaries kept(folder_.path());
  std::vector<std::string> ids;
  std::vector<std::weak_ptr<const Glossary>> used;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(kept.keep(glossary({"en", "de"}, std::string(1'500'000, 'x'))).value().id);
    used.emplace_back(kept.find(ids.back(), ""));
  }
  EXPECT_EQ(kept.all("").size(), 4u);
  EXPECT_TRUE(used[0].expired() && used[1].expired());
  EXPECT_FALSE(used[2].expired() || used[3].expired());
  EXPECT_EQ(kept.find(ids[2], ""), used[2].lock()) << "the same";
  EXPECT_EQ(kept.find(ids[0], "")->dictionaries[0].demands->of("one", {}).size(), 1u);
  EXPECT_TRUE(used[3].expired());
  std::filesystem::remove(folder_.path() / (ids[2] + ".json"));
  kept.all("");
  EXPECT_TRUE(used[2].expired()) << "the folder no longer has it";
}

TEST_F(KeptGlossaries, TwoServersMayShareTheFolder) {
  TableServer first({"en-de"}, config()), second({"en-de"}, config());
  const json made = json_of(first.post("/v2/glossaries", terms("one\ttwo")));
  EXPECT_EQ(json_of(second.get("/v2/glossaries"))["glossaries"][0], made);
}

TEST(Glossaries, WithoutAFolderNoneAreKept) {
  TableServer table({"en-de"});
  const HttpResponse response = table.get("/v2/glossaries");
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("--glossaries"));
  EXPECT_EQ(json_of(table.get("/v2/glossary-language-pairs")),
            parse_json(R"({"supported_languages": [{"source_lang": "en", "target_lang": "de"}]})"));
}

}  // namespace
}  // namespace dragoman
