#include "extras/server/translation_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <new>
#include <thread>

#include "base/error.h"
#include "base/json.h"
#include "tests/allocations.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"
#include "tests/wait_until.h"

/// CLD2, which finds the language of a text, loses its table of 16 KiB if memory runs out.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:CLD2::DetectLanguageSummaryV2";
}

namespace dragoman {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

const json kOne = {{"q", "one"}, {"source", "en"}, {"target", "de"}};

TEST(TranslationServer, UnknownPathsAre404InTheFormOfTheirInterface) {
  TableServer table({"en-de"});
  EXPECT_EQ(table.get("/nothing").status, 404);
  EXPECT_TRUE(json_of(table.get("/nothing")).contains("error"));
  for (const char* path : {"/v2/nothing", "/v1/usage", "/v3/nothing"}) {
    EXPECT_EQ(table.get(path).status, 404) << path;
    EXPECT_TRUE(json_of(table.get(path)).contains("message")) << path;
  }
}

TEST(TranslationServer, AWrongMethodIs405AndNamesTheRightOne) {
  TableServer table({"en-de"});
  const HttpResponse response = table.get("/translate");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(header_of(response, "Allow"), "POST");
  EXPECT_EQ(header_of(table.ask({.method = "DELETE", .path = "/v2/usage"}), "Allow"), "GET, POST");
  EXPECT_EQ(table.ask({.method = "HEAD", .path = "/health"}).status, 200);
}

TEST(TranslationServer, AWrongMethodIsNamedBesideTheRightOnes) {
  TableServer table({"en-de"});
  const HttpResponse response = table.ask({.method = "DELETE", .path = "/v2/usage"});
  EXPECT_THAT(json_of(response)["message"].get<std::string>(),
              Names("/v2/usage ... GET, POST ... DELETE"));
}

TEST(TranslationServer, ALanguageBetweenTwoIsNamed) {
  TableServer table({"fr-en", "en-de", "fr-cs", "cs-de"});
  const json answer = json_of(table.post(
      "/translate", {{"q", "one\ntwo"}, {"source", "fr"}, {"target", "de"}, {"alternatives", 1}}));
  EXPECT_EQ(answer["translatedText"], "one\ntwo");
  EXPECT_EQ(answer["pivotLanguage"], "en") << "English comes before others";
  EXPECT_EQ(answer["alternatives"].size(), 1u);
  const json deepl = json_of(table.post(
      "/v2/translate", {{"text", {"one"}}, {"source_lang", "FR"}, {"target_lang", "DE"}}));
  EXPECT_EQ(deepl["translations"][0]["pivot_language"], "EN");
  EXPECT_FALSE(json_of(table.post("/translate", kOne)).contains("pivotLanguage"));
  EXPECT_EQ(table.answered().front().languages, "fr-en-de");
}

TEST(TranslationServer, ManyRequestsAtOnceGetTheirOwnAnswers) {
  TableServer table({"en-de", "de-fr"});
  const std::vector<std::string> words = {"one", "two", "three", "Four", "five.", "six,"};
  std::vector<std::jthread> clients;
  for (std::size_t c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (std::size_t i = 0; i < 25; ++i) {
        std::string text;
        for (std::size_t w = 0; w <= (c + i) % 7; ++w) text += words[(c * i + w) % 6] + "\n";
        json body = {{"q", text}, {"source", "en"}, {"target", i % 2 == 0 ? "de" : "fr"}};
        EXPECT_EQ(json_of(table.post("/translate", body))["translatedText"], text);
      }
    });
  clients.clear();
  EXPECT_EQ(table.answered().size(), 200u);
}

TEST(TranslationServer, ALongTextDoesNotHoldUpALaterRequest) {
  TableServer table({"en-de"});
  table.gate.open(false);
  std::string many;
  for (int i = 0; i < 80; ++i) many += "one two three\n";
  auto large = table.send(
      TableServer::request_of("/translate", {{"q", many}, {"source", "en"}, {"target", "de"}}));
  auto small = table.send(TableServer::request_of("/translate", kOne));
  ASSERT_EQ(small.wait_for(milliseconds(50)), std::future_status::timeout);
  table.gate.open(true);
  EXPECT_EQ(small.get().status, 200);
  EXPECT_EQ(large.wait_for(milliseconds(0)), std::future_status::timeout);
  EXPECT_EQ(json_of(large.get())["translatedText"], many);
}

TEST(TranslationServer, AtTheDeadlineARequestEndsAndItsRowsAreFree) {
  TableServer table({"en-de"}, {.request_timeout = milliseconds(50)});
  table.gate.open(false);
  auto response = table.send(TableServer::request_of("/translate", kOne));
  EXPECT_EQ(response.get().status, 504);
  table.gate.open(true);
  EXPECT_TRUE(wait_until([&] { return table.engines[0]->slots == 0; }));
}

TEST(TranslationServer, AClientThatGoesFreesItsRows) {
  TableServer table({"en-de"});
  table.gate.open(false);
  std::stop_source gone;
  auto response = table.send(TableServer::request_of("/translate", kOne), gone.get_token());
  ASSERT_EQ(response.wait_for(milliseconds(50)), std::future_status::timeout);
  gone.request_stop();
  EXPECT_EQ(response.get().status, kClientGone);
  table.gate.open(true);
  EXPECT_TRUE(wait_until([&] { return table.engines[0]->slots == 0; }));
  EXPECT_EQ(table.post("/translate", kOne).status, 200);
  EXPECT_EQ(table.send(TableServer::request_of("/translate", kOne), gone.get_token()).get().status,
            kClientGone)
      << "gone before it began";
}

TEST(TranslationServer, WhileTooMuchWaitsRequestsAre503) {
  TableServer table({"en-de"}, {}, 4);
  table.gate.open(false);
  std::vector<std::future<HttpResponse>> admitted;
  json many = kOne;
  many["q"] = std::vector<std::string>(100, "one");
  for (int i = 0; i < 2; ++i)
    admitted.push_back(table.send(TableServer::request_of("/translate", many)));
  const HttpResponse refused = table.post("/translate", kOne);
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(header_of(refused, "Retry-After"), "");
  EXPECT_THAT(json_of(refused)["error"], HasSubstr("wait"));
  table.gate.open(true);
  EXPECT_EQ(admitted[0].get().status, 200);
  EXPECT_TRUE(wait_until([&] { return table.post("/translate", kOne).status == 200; }));
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("\ndragoman_refused_total "));
}

TEST(TranslationServer, AnEngineThatFailsIs500AndTheHealthSaysSo) {
  TableServer table({"en-de"});
  EXPECT_EQ(json_of(table.get("/health")), json({{"status", "ok"}}));
  table.engines[0]->fails = true;
  const HttpResponse response = table.post("/translate", kOne);
  EXPECT_EQ(response.status, 500);
  EXPECT_THAT(json_of(response)["error"].get<std::string>(),
              Names("Cannot translate text ... the table is broken"));
  EXPECT_THAT(table.answered().back().fault, Names("the table is broken")) << "for the log";
  EXPECT_EQ(table.get("/health").status, 503);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("\ndragoman_refused_total 0\n"))
      << "nobody was refused";
  EXPECT_EQ(table.post("/v2/translate", {{"text", {"one"}}, {"target_lang", "DE"}}).status, 500);
}

TEST(TranslationServer, AModelIsReplacedUnderARequest) {
  TableServer table({"en-de"});
  table.gate.open(false);
  auto response = table.send(TableServer::request_of("/translate", kOne));
  ASSERT_EQ(response.wait_for(milliseconds(50)), std::future_status::timeout);
  table.add("en-de");
  table.gate.open(true);
  EXPECT_EQ(response.get().status, 200);
  const std::int64_t admitted = table.engines[0]->admitted;
  EXPECT_EQ(table.post("/translate", kOne).status, 200);
  EXPECT_EQ(table.engines[0]->admitted, admitted) << "the new one serves";
}

TEST(TranslationServer, AModelIsLoadedWhenARequestNeedsIt) {
  TableServer table({"de-en"});
  Gate gate;
  std::atomic<int> loads = 0;
  std::atomic<bool> fails = true;
  const auto later = [&](const std::string& pair) {
    table.models.set(std::make_shared<ServedModel>(parse_language_pair(pair).value(), [&, pair] {
      gate.pass();
      ++loads;
      if (fails) throw Error(pair, " is damaged");
      if (!table.models.find(parse_language_pair(pair).value())->is_loaded()) table.add(pair);
    }));
  };
  later("en-fr");
  later("fr-en");
  EXPECT_EQ(table.get("/health").status, 200);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("{languages=\"de-en\"} 0"));
  EXPECT_EQ(json_of(table.get("/version"))["models"][1],
            parse_json(R"({"source": "en", "target": "fr", "loaded": false})"));
  const json question = {{"q", "one two"}, {"source", "de"}, {"target", "fr"}};
  const HttpResponse damaged = table.post("/translate", question);
  EXPECT_EQ(damaged.status, 500);
  EXPECT_THAT(damaged.body, Names("en-fr ... log"));
  EXPECT_EQ(table.answered().back().fault, "en-fr is damaged");
  fails = false;
  gate.open(false);
  auto first = table.send(TableServer::request_of("/translate", question)),
       second = table.send(TableServer::request_of("/translate", question));
  EXPECT_EQ(table.post("/translate", {{"q", "six"}, {"source", "de"}, {"target", "en"}}).status,
            200)
      << "others continue";
  EXPECT_EQ(first.wait_for(milliseconds(20)), std::future_status::timeout);
  gate.open(true);
  for (auto* response : {&first, &second}) {
    const HttpResponse answer = response->get();
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(json_of(answer)["translatedText"], "one two");
    EXPECT_EQ(json_of(answer)["pivotLanguage"], "en");
  }
  EXPECT_EQ(loads, 3);
  EXPECT_EQ(json_of(table.get("/version"))["models"][1]["loaded"], true);
  EXPECT_EQ(json_of(table.get("/version"))["models"][2]["loaded"], false) << "nobody needs fr-en";
}

TEST(TranslationServer, AtTheServersEndRequestsThatWaitForAModelAre503) {
  Gate gate;
  gate.open(false);
  std::future<HttpResponse> first, second;
  {
    TableServer table({"de-en"});
    table.models.set(std::make_shared<ServedModel>(parse_language_pair("en-de").value(),
                                                   [&gate] { gate.pass(); }));
    first = table.send(TableServer::request_of("/translate", kOne));
    second = table.send(TableServer::request_of("/translate", kOne));
    EXPECT_EQ(second.wait_for(milliseconds(20)), std::future_status::timeout);
    std::jthread opening([&gate] {
      std::this_thread::sleep_for(milliseconds(20));
      gate.open(true);
    });
    table.server.reset();
  }
  EXPECT_EQ(second.get().status, 503);
}

TEST(TranslationServer, RequestsAreLimitedByClient) {
  TableServer table({"en-de"}, {.requests_per_minute = 2});
  EXPECT_EQ(table.post("/translate", kOne).status, 200);
  EXPECT_EQ(table.post("/detect", {{"q", "one"}}).status, 200);
  const HttpResponse refused = table.post("/translate", kOne);
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(json_of(refused)["error"], HasSubstr("Slowdown"));
  EXPECT_GE(std::stoi(header_of(refused, "Retry-After")), 1);
  EXPECT_EQ(table.post("/v2/translate", {{"text", {"one"}}, {"target_lang", "DE"}}).status, 429);
  HttpRequest other = TableServer::request_of("/translate", kOne);
  other.client = "192.0.2.2";
  EXPECT_EQ(table.ask(other).status, 200);
  EXPECT_EQ(table.get("/languages").status, 200) << "what costs nothing is not counted";
}

TEST(TranslationServer, BehindAProxyClientsAreThoseThatItNames) {
  TableServer table({"en-de"}, {.requests_per_minute = 1, .is_behind_proxy = true});
  HttpRequest request = TableServer::request_of("/translate", kOne);
  request.headers["x-forwarded-for"] = "198.51.100.7, 203.0.113.1";
  EXPECT_EQ(table.ask(request).status, 200);
  request.headers["x-forwarded-for"] = "198.51.100.8, 203.0.113.1";
  EXPECT_EQ(table.ask(request).status, 429) << "the client may write what it likes in front";
  request.headers["x-forwarded-for"] = "203.0.113.2";
  EXPECT_EQ(table.ask(request).status, 200);
  EXPECT_EQ(table.answered().front().client, "203.0.113.1");
}

TEST(TranslationServer, LibreTranslatesKeysAreAskedForAndUsedUp) {
  const ScratchFile file("keys.txt", "alpha 5\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  json body = kOne;
  EXPECT_EQ(table.post("/translate", body).status, 400);
  body["api_key"] = "beta";
  EXPECT_EQ(table.post("/translate", body).status, 403);
  body["api_key"] = "alpha";
  EXPECT_EQ(table.post("/translate", body).status, 200);
  EXPECT_EQ(table.answered().back().texts, 1);
  EXPECT_EQ(table.post("/translate", body).status, 429);
  EXPECT_EQ(table.answered().back().texts, 0) << "what is refused is not translated";
  table.engines[0]->fails = true;
  body["q"] = "I";
  EXPECT_EQ(table.post("/translate", body).status, 500);
  EXPECT_EQ(table.post("/translate", body).status, 500) << "what failed is not counted";
  EXPECT_EQ(table.post("/translate", body).status, 500);
}

TEST(TranslationServer, KeysComeAsParametersOrInHeaders) {
  const ScratchFile keys("keys", "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(keys.path())});
  const nlohmann::json deepl = {{"text", {"one"}}, {"source_lang", "EN"}, {"target_lang", "DE"}};
  for (const auto& [path, body] :
       {std::pair("/translate", kOne), std::pair("/v2/translate", deepl)})
    for (const auto& [name, value, status] : std::vector<std::tuple<const char*, const char*, int>>{
             {"authorization", "Bearer alpha", 200},
             {"authorization", "bearer  alpha ", 200},
             {"x-api-key", "alpha", 200},
             {"authorization", "Bearer beta", 403},
             {"x-api-key", "beta", 403},
             {"authorization", "Basic alpha", path == std::string("/translate") ? 400 : 403}}) {
      HttpRequest request = TableServer::request_of(path, body);
      request.headers[name] = value;
      EXPECT_EQ(table.ask(request).status, status) << path << name << value;
    }
}

TEST(TranslationServer, BodiesMayComeInGzip) {
  // {"q":"one","source":"en","target":"de"}
  constexpr char kZipped[] =
      "\037\213\010\000\000\000\000\000\002\003\253V*T\262R\312\317KU\322"
      "Q*\316/-JN\005rS\363\200\274\222\304\242\364\324\022\040/%U\251"
      "\026\000\264oN\312'\000\000\000";
  // {"q":"aaa..."}, of 3,008 bytes
  constexpr char kLarge[] =
      "\037\213\010\000\000\000\000\000\002\003\355\3011\021\0000\010\004"
      "0//\0037\225\300\314\341\2756\030\222L:\225\007\000\000\234\227"
      "\375\255\314\351i\300\013\000\000";
  TableServer table({"en-de"}, {.limits = {.body_bytes = 3'000}});
  HttpRequest request = TableServer::request_of("/translate", {});
  request.headers["content-encoding"] = "gzip";
  request.body = {kZipped, sizeof kZipped - 1};
  const HttpResponse answer = table.ask(request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer).at("translatedText"), "one");
  for (const auto& [body, status] :
       {std::pair(request.body.substr(0, 40), 400), std::pair(request.body + "x", 400),
        std::pair(std::string("{}"), 400),
        std::pair(std::string(kLarge, sizeof kLarge - 1), 413)}) {
    request.body = body;
    EXPECT_EQ(table.ask(request).status, status) << status;
  }
}

TEST(TranslationServer, AddressesMayBeginWithSeveralSlashes) {
  TableServer table({"en-de"});
  EXPECT_EQ(table.post("//translate", kOne).status, 200);
  EXPECT_EQ(table.get("//languages").status, 200);
  EXPECT_EQ(table.get("/v2//usage").status, 404);
}

TEST(TranslationServer, PagesOfOtherOriginsAskOnlyIfTheyMay) {
  TableServer closed({"en-de"});
  EXPECT_EQ(header_of(closed.post("/translate", kOne), "Access-Control-Allow-Origin"), "");
  EXPECT_EQ(closed.ask({.method = "OPTIONS", .path = "/translate"}).status, 405);
  TableServer open({"en-de"}, {.cors_origins = {"*"}});
  EXPECT_EQ(header_of(open.post("/translate", kOne), "Access-Control-Allow-Origin"), "*");
  TableServer one({"en-de"}, {.cors_origins = {"https://example.org"}});
  HttpRequest preflight{
      .method = "OPTIONS", .path = "/translate", .headers = {{"origin", "https://example.org"}}};
  const HttpResponse allowed = one.ask(preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(header_of(allowed, "Access-Control-Allow-Origin"), "https://example.org");
  preflight.headers["origin"] = "https://example.com";
  EXPECT_EQ(header_of(one.ask(preflight), "Access-Control-Allow-Origin"), "");
}

TEST(TranslationServer, MetricsCountRequestsAndText) {
  TableServer table({"en-de"});
  table.post("/translate", {{"q", {"one", "two"}}, {"source", "en"}, {"target", "de"}});
  table.get("/nothing");
  table.get("/other");
  const HttpResponse response = table.get("/metrics");
  EXPECT_THAT(response.type, HasSubstr("text/plain; version=0.0.4"));
  for (const char* line :
       {"\ndragoman_requests_total{path=\"/translate\",status=\"200\"} 1\n",
        "\ndragoman_requests_total{path=\"other\",status=\"404\"} 2\n",
        "\ndragoman_request_seconds_count{path=\"/translate\"} 1\n",
        "\ndragoman_request_seconds_bucket{path=\"/translate\",le=\"+Inf\"} 1\n",
        "\ndragoman_waiting_sentences{languages=\"en-de\"} 0\n", "\ndragoman_texts_total 2\n",
        "\ndragoman_characters_total 6\n", "\ndragoman_requests_under_way 1\n",
        "\ndragoman_refused_total 0\n", "\nprocess_resident_memory_bytes "})
    EXPECT_THAT(response.body, HasSubstr(line));
}

TEST(TranslationServer, SentencesThatComeAgainAreNotTranslatedAgain) {
  TableServer table({"en-de"}, {}, 65'536, 1 << 20);
  const auto ask = [&table](const json& q) {
    return json_of(table.post("/translate", {{"q", q}, {"source", "en"}, {"target", "de"}}));
  };
  const json first = ask("one two\nthree");
  const std::int64_t admitted = table.engines.front()->admitted;
  EXPECT_EQ(ask("one two\nthree"), first);
  EXPECT_EQ(ask({"three", "", "one two"})["translatedText"], json({"three", "", "one two"}));
  EXPECT_EQ(table.engines.front()->admitted, admitted);
  const std::string metrics = table.get("/metrics").body;
  for (const char* line : {"\ndragoman_cache_hits_total{languages=\"en-de\"} 4\n",
                           "\ndragoman_cache_misses_total{languages=\"en-de\"} 2\n"})
    EXPECT_THAT(metrics, HasSubstr(line));
  // An answer is sent before the engine has counted its rows again.
  const std::string none_in_use = "\ndragoman_rows_in_use{languages=\"en-de\"} 0\n";
  EXPECT_TRUE(wait_until(
      [&] { return table.get("/metrics").body.find(none_in_use) != std::string::npos; }));
}

TEST(TranslationServer, SentencesWithTermsComeAgainToo) {
  TableServer table({"en-de"}, {}, 65'536, 1 << 20);
  const auto ask = [&table] {
    return json_of(table.post(
        "/translate",
        {{"q", "one two"}, {"source", "en"}, {"target", "de"}, {"terms", {{"two", "two"}}}}));
  };
  const json first = ask();
  const std::int64_t admitted = table.engines.front()->admitted;
  EXPECT_EQ(ask(), first);
  EXPECT_EQ(table.engines.front()->admitted, admitted);
}

TEST(TranslationServer, TheVersionNamesModelsAndTheDescriptionNamesPaths) {
  TableServer table({"en-de"}, {.version = "9.9"});
  EXPECT_EQ(json_of(table.get("/version")),
            parse_json(R"({"version": "9.9", "models": [{"source": "en", "target": "de",
                            "loaded": true, "updates": 7, "checksum": "c0ffee"}]})"));
  const json description = json_of(table.get("/openapi.json"));
  EXPECT_EQ(description["openapi"], "3.0.3");
  for (const auto& [path, methods] : description["paths"].items())
    for (const auto& [method, facts] : methods.items()) {
      if (method == "parameters") continue;
      std::string upper = method;
      for (char& c : upper) c = static_cast<char>(std::toupper(c));
      const HttpResponse answer = table.ask({.method = upper, .path = path});
      EXPECT_NE(answer.status, 405) << path;
      EXPECT_THAT(answer.body, Not(HasSubstr("there is no /"))) << path;
      EXPECT_TRUE(facts["responses"].begin().key().starts_with('2')) << path;
    }
  EXPECT_EQ(table.get("/spec").body, table.get("/openapi.json").body) << "LibreTranslate's path";
}

TEST(TranslationServer, AtTheServersEndRequestsUnderWayAre503) {
  std::future<HttpResponse> response;
  TableServer table({"en-de"});
  table.gate.open(false);
  response = table.send(TableServer::request_of("/translate", kOne));
  ASSERT_EQ(response.wait_for(milliseconds(50)), std::future_status::timeout);
  table.server.reset();
  EXPECT_EQ(response.get().status, 503);
}

// ---- metrics ----

TEST(Metrics, SmallTimesCountInALargeSum) {
  Metrics metrics;
  for (const double seconds : {1'234'567.25, 0.125, 0.003}) {
    metrics.begin();
    metrics.end({.client = "a", .method = "POST", .path = "/a", .status = 200, .seconds = seconds},
                "/a");
  }
  const std::string text = metrics.text(ServedModels(), 0);
  EXPECT_THAT(text, HasSubstr("\ndragoman_request_seconds_sum{path=\"/a\"} 1234567.378\n"));
  EXPECT_THAT(text, HasSubstr("{path=\"/a\",le=\"0.005\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("{path=\"/a\",le=\"60\"} 2\n"));
}

// ---- requests while memory runs out ----

HttpRequest page_form() {
  return {.method = "POST",
          .path = "/",
          .headers = {{"content-type", "application/x-www-form-urlencoded"}},
          .body = "q=one+two&source=en&target=de&api_key=alpha&terms=one%3Dthree"};
}

HttpRequest html_text() {
  return TableServer::request_of("/translate", {{"q", {"<p>one <b>two</b>", "three"}},
                                                {"source", "auto"},
                                                {"target", "de"},
                                                {"format", "html"},
                                                {"alignment", true},
                                                {"alternatives", 1},
                                                {"api_key", "alpha"}});
}

HttpRequest text_to_explain() {
  return TableServer::request_of(
      "/explain", {{"q", "one two"}, {"source", "en"}, {"target", "de"}, {"api_key", "alpha"}});
}

/// Sends the request while memory runs out after this many allocations. Whatever becomes of it, it
/// is answered, or its connection closed, and what was counted for it is right. False if there was
/// enough memory.
bool runs_out(const HttpRequest& request, std::int64_t allocations, FailingMemory::Fails fails) {
  const ScratchFile file("keys.txt", "alpha 1000\n");
  const auto keys = std::make_shared<ApiKeys>(file.path());
  TableServer table({"en-de"}, {.cors_origins = {"https://example.org"}, .api_keys = keys}, 65'536,
                    1 << 20);
  table.add("en-de", 65'536, [](const std::string& text, ExplanationUse, const auto&) {
    return TextExplanation{.json = "{}" + text, .target_tokens = 1};
  });
  std::future<HttpResponse> response;
  HttpRequest sent = request;
  bool has_failed = false, is_answered = true;
  {
    const FailingMemory memory(allocations, fails);
    try {
      response = table.send(std::move(sent));
      is_answered = response.wait_for(std::chrono::seconds(30)) == std::future_status::ready;
    } catch (const std::bad_alloc&) {  // closes the connection
    }
    has_failed = memory.has_failed();
  }
  EXPECT_TRUE(is_answered);
  if (!is_answered) return false;
  const HttpResponse answer = response.valid() ? response.get() : HttpResponse{.status = 0};
  EXPECT_TRUE(answer.status == 0 || answer.status == 200 || answer.status == 500)
      << answer.status << " " << answer.body;
  EXPECT_EQ(keys->use_of(0).characters > 0, answer.status == 200);
  EXPECT_THAT(table.get("/metrics").body, HasSubstr("\ndragoman_requests_under_way 1\n"));
  return has_failed;
}

class Memory : public testing::TestWithParam<FailingMemory::Fails> {};

TEST_P(Memory, ARequestIsAnsweredWhereverItRunsOut) {
  for (const HttpRequest& request : {page_form(), html_text(), text_to_explain()}) {
    constexpr std::int64_t kEnough = 10'000'000;
    ASSERT_FALSE(runs_out(request, kEnough, GetParam()));
    // The later ones are mostly the engine's, and much alike.
    for (std::int64_t before = 0; runs_out(request, before, GetParam()); before += 1 + before / 25)
      ASSERT_FALSE(HasFailure()) << request.path << ", after " << before << " allocations";
  }
}

INSTANTIATE_TEST_SUITE_P(Fails, Memory,
                         testing::Values(FailingMemory::Fails::Once,
                                         FailingMemory::Fails::FromThenOn));

}  // namespace

}  // namespace dragoman
