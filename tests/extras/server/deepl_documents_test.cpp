// DeepL's documents, as a client sees them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "tests/allocations.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

using Fields = std::vector<std::pair<std::string, std::string>>;

HttpRequest upload(const std::string& name, const std::string& text,
                   const Fields& more = {{"source_lang", "EN"}}) {
  HttpRequest request{.method = "POST",
                      .path = "/v2/document",
                      .headers = {{"content-type", "multipart/form-data; boundary=b"}},
                      .body = "--b\r\nContent-Disposition: form-data; name=file; filename=\"" +
                              name + "\"\r\n\r\n" + text + "\r\n"};
  Fields fields = more;
  fields.emplace_back("target_lang", "DE");
  for (const auto& [field, value] : fields)
    request.body +=
        "--b\r\nContent-Disposition: form-data; name=" + field + "\r\n\r\n" + value + "\r\n";
  request.body += "--b--\r\n";
  return request;
}

HttpResponse ask_for(TableServer& table, const json& document, const std::string& part = "") {
  const std::string id = document.at("document_id");
  return table.post("/v2/document/" + id + part, {{"document_key", document.at("document_key")}});
}

/// The state when the document is no longer being translated.
json final_state(TableServer& table, const json& document) {
  while (true) {
    json state = json_of(ask_for(table, document));
    if (state["status"] != "translating") return state;
    std::this_thread::yield();
  }
}

json uploaded(TableServer& table, const HttpRequest& request) {
  const HttpResponse response = table.ask(request);
  EXPECT_EQ(response.status, 200) << response.body;
  return json_of(response);
}

TEST(DeepLDocuments, ADocumentIsUploadedTranslatedAndFetchedOnce) {
  TableServer table({"en-de"});
  const std::vector<std::pair<std::string, std::string>> documents = {
      {"a.txt", "\uFEFFone two\r\n\r\nthree\r\n"},
      {"a.html", "<p>one <b>two</b></p>"},
      {"b.html", "<meta charset=iso-8859-1><p class=\"\xE9\">one <b>two</b></p>"},
      {"a.xml", "<d><t>one</t></d>"},
      {"a.srt", "1\n00:00:01,000 --> 00:00:02,000\none two\n"},
      {"a.po", "msgid \"one\"\nmsgstr \"\"\n"},
      {"a.md", "# one\n\ntwo *three*\n"}};
  for (const auto& [name, text] : documents) {
    const json document = uploaded(table, upload(name, text));
    EXPECT_THAT(document["document_id"].get<std::string>(), MatchesRegex("[0-9a-f]{32}"));
    EXPECT_THAT(document["document_key"].get<std::string>(), MatchesRegex("[0-9a-f]{64}"));
    const json state = final_state(table, document);
    EXPECT_EQ(state["status"], "done") << state;
    EXPECT_EQ(state["document_id"], document["document_id"]);
    EXPECT_GT(state["billed_characters"], 0);
    const HttpResponse file = ask_for(table, document, "/result");
    EXPECT_EQ(file.body, name == "a.po" ? "msgid \"one\"\nmsgstr \"one\"\n" : text) << name;
    EXPECT_EQ(header_of(file, "Content-Disposition"), "attachment; filename=\"" + name + "\"");
    EXPECT_EQ(ask_for(table, document, "/result").status, 404) << "it is given once";
    EXPECT_EQ(ask_for(table, document).status, 404);
  }
}

TEST(DeepLDocuments, TheClientGetsItsAnswerBeforeTheTranslationIsThere) {
  TableServer table({"en-de"});
  table.gate.open(false);
  const json document = uploaded(table, upload("a.txt", "one"));
  EXPECT_EQ(json_of(ask_for(table, document))["status"], "translating");
  const HttpResponse early = ask_for(table, document, "/result");
  EXPECT_EQ(early.status, 503);
  EXPECT_EQ(header_of(early, "Retry-After"), "1");
  EXPECT_EQ(table.answered().size(), 2u) << "the upload is reported when its translation is there";
  table.gate.open(true);
  EXPECT_EQ(final_state(table, document)["status"], "done");
}

TEST(DeepLDocuments, NobodyWithoutTheKeyFindsADocument) {
  const ScratchFile file("keys.txt", "alpha\nbeta\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  HttpRequest request = upload("a.txt", "one");
  request.headers["authorization"] = "DeepL-Auth-Key alpha";
  const json document = uploaded(table, request);
  const std::string path = "/v2/document/" + document["document_id"].get<std::string>();
  const auto status = [&](const std::string& key, const json& document_key) {
    HttpRequest asked = TableServer::request_of(path, {{"document_key", document_key}});
    asked.headers["authorization"] = "DeepL-Auth-Key " + key;
    return table.ask(asked).status;
  };
  EXPECT_EQ(status("alpha", document["document_key"]), 200);
  EXPECT_EQ(status("beta", document["document_key"]), 404);
  EXPECT_EQ(status("alpha", "other"), 404);
  EXPECT_EQ(status("alpha", nullptr), 404);
}

TEST(DeepLDocuments, ATranslationThatFailsIsAState) {
  TableServer table({"en-de"});
  table.engines[0]->fails = true;
  const json document = uploaded(table, upload("a.txt", "one"));
  const json state = final_state(table, document);
  EXPECT_EQ(state["status"], "error");
  EXPECT_THAT(state["error_message"], HasSubstr("the table is broken"));
  EXPECT_EQ(ask_for(table, document, "/result").status, 404);
  const std::vector<AnsweredRequest> answered = table.answered();
  EXPECT_TRUE(std::ranges::any_of(answered, [](const AnsweredRequest& request) {
    return request.path == "/v2/document" && request.status == 500;
  }));
}

TEST(DeepLDocuments, AWrongUploadIsRefusedAtOnce) {
  TableServer table({"en-de"}, {.limits = {.characters = 10}});
  const auto refused = [&table](const HttpRequest& request, int status) {
    const HttpResponse response = table.ask(request);
    EXPECT_EQ(response.status, status) << response.body;
    const json error = json_of(response);
    return error.value("message", "") + " " + error.value("detail", "");
  };
  EXPECT_THAT(refused(upload("a.docx", "one"), 400), HasSubstr(".txt, .html"));
  EXPECT_THAT(refused(upload("a.txt", " \n"), 400), HasSubstr("empty"));
  EXPECT_THAT(refused(upload("a.xml", "<a>"), 400), HasSubstr("xml: line 1"));
  EXPECT_THAT(refused(upload("a.txt", "one two three four"), 413), HasSubstr("characters"));
  EXPECT_THAT(refused(upload("a.html", "<p>one two three four"), 413), HasSubstr("characters"));
  EXPECT_THAT(refused(upload("a.txt", "one", {{"source_lang", "FR"}}), 400),
              HasSubstr("source_lang"));
  EXPECT_THAT(refused(upload("a.txt", "one", {{"output_format", "docx"}}), 400),
              HasSubstr("output_format"));
  EXPECT_THAT(refused(upload("a.txt", "one", {{"formality", "more"}}), 400),
              HasSubstr("formality"));
  HttpRequest without = upload("a.txt", "one");
  without.body = without.body.substr(without.body.find("--b", 3));
  EXPECT_THAT(refused(without, 400), HasSubstr("Invalid file data"));
  EXPECT_EQ(table.ask(upload("a.html", "<p>one", {{"output_format", "htm"}})).status, 400);
  EXPECT_EQ(table.ask(upload("a", "one", {{"filename", "a.txt"}, {"source_lang", "EN"}})).status,
            200);
}

TEST(DeepLDocuments, ThereIsRoomForSomeThatAreBeingTranslated) {
  TableServer table({"en-de"});
  table.gate.open(false);
  std::vector<json> documents;
  HttpResponse response;
  while (documents.size() < 1000) {
    response = table.ask(upload("a.txt", "one"));
    if (response.status != 200) break;
    documents.push_back(json_of(response));
  }
  EXPECT_EQ(documents.size(), 64u);
  EXPECT_EQ(response.status, 503);
  table.gate.open(true);
  for (const json& document : documents) EXPECT_EQ(final_state(table, document)["status"], "done");
  EXPECT_EQ(table.ask(upload("a.txt", "one")).status, 200);
}

/// False if there was enough memory.
bool runs_out(std::int64_t allocations, FailingMemory::Fails fails) {
  TableServer table({"en-de"});
  HttpRequest request = upload("a.html", "<p>one two</p>");
  std::future<HttpResponse> response;
  bool has_failed = false;
  {
    const FailingMemory memory(allocations, fails);
    try {
      response = table.send(std::move(request));
      response.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // about a translation
    } catch (const std::bad_alloc&) {                             // closes the connection
    }
    has_failed = memory.has_failed();
  }
  if (!response.valid()) return has_failed;
  const HttpResponse answer = response.get();
  if (answer.status != 200) return has_failed;
  const json state = final_state(table, json_of(answer));
  EXPECT_TRUE(state["status"] == "done" || state["status"] == "error") << state;
  return has_failed;
}

TEST(DeepLDocuments, AnUploadIsAnsweredAndItsTranslationEndsWhereverMemoryRunsOut) {
  for (const auto fails : {FailingMemory::Fails::Once, FailingMemory::Fails::FromThenOn})
    for (std::int64_t before = 0; runs_out(before, fails); before += 1 + before / 10)
      ASSERT_FALSE(HasFailure()) << "after " << before << " allocations";
}

}  // namespace
}  // namespace dragoman
