// Our own interface. The page is here without a browser; tests/system/server_page.py
// opens it in one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <regex>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

HttpRequest form(const std::string& body) {
  return {.method = "POST",
          .path = "/",
          .headers = {{"content-type", "application/x-www-form-urlencoded"}},
          .body = body};
}

TEST(WebPage, ThePageNamesLanguagesAndAllowsNothingFromElsewhere) {
  TableServer table({"en-de", "de-fr"});
  const HttpResponse page = table.get("/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("<option value=\"en\">English</option>"));
  EXPECT_THAT(page.body, HasSubstr("<option value=\"auto\" selected>"));
  const std::string policy = header_of(page, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  EXPECT_FALSE(
      std::regex_search(page.body, std::regex("<script(?![^>]* src=)|<style| style=| on[a-z]+=")));
  EXPECT_THAT(page.body, Not(HasSubstr("//")));
}

TEST(WebPage, AnAddressMayHaveTheText) {
  TableServer table({"en-de", "de-fr"});
  const std::string page = table
                               .ask({.method = "GET",
                                     .path = "/",
                                     .query = {{"source", "de"},
                                               {"target", "fr"},
                                               {"q", "<b>Tag & Nacht</b>"},
                                               {"other", "x"}}})
                               .body;
  EXPECT_THAT(page, HasSubstr("<option value=\"de\" selected>"));
  EXPECT_THAT(page, HasSubstr("<option value=\"fr\" selected>"));
  EXPECT_THAT(page, HasSubstr(">\n&lt;b&gt;Tag &amp; Nacht&lt;/b&gt;</textarea>"));
  EXPECT_EQ(table.ask({.method = "GET", .path = "/", .query = {{"q", "\xff"}}}).body,
            table.get("/").body);
}

TEST(WebPage, AllThatThePageNamesIsServed) {
  TableServer table({"en-de"});
  const std::string page = table.get("/").body;
  const std::regex reference("(?:src|href)=\"([^\"]+)\"");
  int count = 0;
  for (std::sregex_iterator found(page.begin(), page.end(), reference), end; found != end;
       ++found) {
    EXPECT_EQ(table.get("/" + (*found)[1].str()).status, 200) << (*found)[1];
    ++count;
  }
  EXPECT_GE(count, 4);
  for (const char* part : {"server.js", "words.js", "files.js", "glossary.js"})
    EXPECT_EQ(table.get(std::string("/page/") + part).type, "text/javascript; charset=utf-8");
  EXPECT_EQ(table.get("/page/nothing.js").status, 404);
}

TEST(WebPage, WithoutJavaScriptTheFormIsTranslated) {
  TableServer table({"en-de"});
  const HttpResponse page = table.ask(form("q=%3Cone%3E+two&source=en&target=de&terms=&api_key="));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("aria-label=\"Translation\">&lt;one&gt; two</output>"));
  EXPECT_THAT(page.body, HasSubstr("\n&lt;one&gt; two</textarea>"));
  EXPECT_THAT(page.body, HasSubstr("<option value=\"en\" selected>"));
  EXPECT_EQ(table.answered().front().languages, "en-de");
}

TEST(WebPage, ALanguageBetweenTwoIsNamedWithoutJavaScriptToo) {
  TableServer table({"fr-en", "en-de"});
  EXPECT_THAT(table.ask(form("q=one&source=fr&target=de")).body,
              HasSubstr("role=\"status\">by way of English</span>"));
  EXPECT_THAT(table.ask(form("q=Les+hommes+jouent+dans+le+parc.&source=auto&target=de")).body,
              HasSubstr("role=\"status\">Detected: French, by way of English</span>"));
  EXPECT_THAT(table.ask(form("q=one&source=en&target=de")).body, Not(HasSubstr("by way of")));
}

TEST(WebPage, AnErrorStandsOnThePageAndTheTextStays) {
  TableServer table({"en-de"}, {.limits = {.characters = 5}});
  const HttpResponse page = table.ask(form("q=one+two+three&source=en&target=de"));
  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("exceeds text limit"));
  EXPECT_THAT(page.body, HasSubstr("one two three</textarea>"));
  EXPECT_EQ(table.ask(form("q=%ff&source=en&target=de")).status, 400);
  EXPECT_EQ(table.ask(form("")).status, 400);
}

TEST(WebPage, TermsOfARequestAreInItsTranslation) {
  TableServer table({"en-de", "fr-en"});
  const HttpResponse page =
      table.ask(form("q=one+two&source=en&target=de&terms=one%3Dthree%0D%0A%0D%0A"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<details id=\"glossary\" open>"));
  EXPECT_THAT(table.ask(form("q=one+two&source=en&target=de&terms=%EF%BB%BFone%3Dthree")).body,
              testing::ContainsRegex("<output[^>]*>[^<]*three"));
  EXPECT_TRUE(std::regex_search(page.body, std::regex("<output[^>]*>[^<]*three"))) << page.body;
  const auto refused = [&](const std::string& terms, const std::string& source) {
    return table
        .post("/translate", {{"q", "one"}, {"source", source}, {"target", "de"}, {"terms", terms}})
        .body;
  };
  EXPECT_THAT(refused("one", "en"), HasSubstr("'one' is not source=target"));
  EXPECT_THAT(refused("=x", "en"), HasSubstr("is not source=target"));
  EXPECT_THAT(refused("one=two", "fr"), HasSubstr("terms need"));
  for (const char* terms : {"one=t\x01wo", "one\ttwo\tthree", "o\x1Bne=two", "one=two\u2028three",
                            "one=two\u0085three", "one=two\rthree"})
    EXPECT_THAT(refused(terms, "en"), HasSubstr("has a control character")) << terms;
  EXPECT_THAT(refused("\t\n\n", "en"), HasSubstr("\"one\"")) << "no terms";
}

TEST(WebPage, ThePageAsksForAKeyIfThereAreKeys) {
  const ScratchFile keys("keys", "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(keys.path())});
  EXPECT_THAT(table.get("/").body, HasSubstr("<div class=\"key\">"));
  EXPECT_EQ(table.ask(form("q=one&source=en&target=de")).status, 400);
  EXPECT_EQ(table.ask(form("q=one&source=en&target=de&api_key=alpha")).status, 200);
}

// ---- POST /explain: a function takes the place of a model ---------------------------------------

using OnStep = std::function<void()>;

TextExplanation quoted(const std::string& text, ExplanationUse use, const OnStep&) {
  const json quote = {{"text", text}, {"for", use == ExplanationUse::Page ? "page" : "program"}};
  return {.json = json_text(quote), .target_tokens = 3};
}

/// A server whose model of en-de explains by the function.
struct ExplainingServer : TableServer {
  explicit ExplainingServer(ExplainText explain, ServerConfig config = {})
      : TableServer({"en-de", "fr-en"}, std::move(config)) {
    add("en-de", 65'536, std::move(explain));
  }
  HttpResponse explain(json changes = json::object()) { return ask(request(std::move(changes))); }
  static HttpRequest request(json changes = json::object()) {
    json body = {{"q", "one"}, {"source", "en"}, {"target", "de"}, {"format", "json"}};
    body.update(changes);
    return request_of("/explain", body);
  }
};

/// A server that is making its first explanation, held at a gate.
struct HeldServer {
  HeldServer() {
    gate.open(false);
    first = server.send(ExplainingServer::request());
    begun.get_future().wait();
  }

  Gate gate;
  std::promise<void> begun;
  std::atomic<int> made = 0;
  ExplainingServer server{
      [this](const std::string& text, ExplanationUse use, const OnStep& on_step) {
        if (++made == 1) begun.set_value();
        gate.pass();
        return quoted(text, use, on_step);
      }};
  std::future<HttpResponse> first;
};

TEST(ExplainEndpoint, APageRunsItsOwnScriptAlone) {
  ExplainingServer server(quoted);
  const HttpResponse first = server.explain({{"format", "html"}, {"q", "<b>one"}});
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.type, "text/html; charset=utf-8");
  EXPECT_THAT(first.body, HasSubstr("{\"for\":\"page\",\"text\":\"\\u003cb>one\"}"));
  const auto nonce_of = [](const HttpResponse& page) {
    std::smatch found;
    EXPECT_TRUE(std::regex_search(page.body, found, std::regex("<script nonce=\"([^\"]+)\">")));
    return found[1].str();
  };
  const std::string policy = header_of(first, "Content-Security-Policy");
  EXPECT_THAT(policy, HasSubstr("script-src 'nonce-" + nonce_of(first) + "'"));
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy, HasSubstr("sandbox allow-scripts"));
  EXPECT_THAT(policy, Not(HasSubstr("allow-same-origin")));
  EXPECT_EQ(header_of(first, "Cache-Control"), "private, no-store");
  EXPECT_NE(nonce_of(server.explain({{"format", ""}})), nonce_of(first));
}

TEST(ExplainEndpoint, ProgramsGetTheNumbers) {
  ExplainingServer server(quoted);
  const HttpResponse response = server.explain({{"source", "auto"}, {"q", "The cat sat down."}});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.type, "application/json");
  EXPECT_EQ(json_of(response), json({{"text", "The cat sat down."}, {"for", "program"}}));
  const AnsweredRequest facts = server.answered().front();
  EXPECT_EQ(facts.languages, "en-de");
  EXPECT_EQ(facts.characters, 17);
  EXPECT_EQ(facts.target_tokens, 3);
}

TEST(ExplainEndpoint, CodesMayBeInUpperCase) {
  ExplainingServer server(quoted);
  EXPECT_EQ(server.explain({{"source", "EN"}, {"target", "De"}}).status, 200);
}

TEST(ExplainEndpoint, TheHeaderAcceptChoosesIfNoFormatDoes) {
  ExplainingServer server(quoted);
  HttpRequest request = ExplainingServer::request({{"format", nullptr}});
  EXPECT_EQ(server.ask(request).type, "text/html; charset=utf-8");
  request.headers["accept"] = "application/json";
  EXPECT_EQ(server.ask(request).type, "application/json");
  request.headers["accept"] = "text/html,application/json;q=0.9";
  EXPECT_EQ(server.ask(request).type, "text/html; charset=utf-8");
}

TEST(ExplainEndpoint, AProgramWhoseRequestIsBrokenGetsJson) {
  ExplainingServer server(quoted);
  const auto type_of = [&server](const std::string& type, const std::string& body,
                                 const std::string& accept = "*/*") {
    const HttpResponse response =
        server.ask({.method = "POST",
                    .path = "/explain",
                    .headers = {{"content-type", type}, {"accept", accept}},
                    .body = body});
    EXPECT_EQ(response.status, 400);
    return response.type;
  };
  const std::string form = "application/x-www-form-urlencoded", page = "text/html; charset=utf-8";
  EXPECT_EQ(type_of("application/json", "{\"q\": "), "application/json");
  EXPECT_EQ(type_of("application/json", "{\"q\": \"\xFF\"}"), "application/json");
  EXPECT_EQ(type_of(form, "q=%FF&format=json"), "application/json");
  EXPECT_EQ(type_of(form, "q=%FF", "application/json"), "application/json");
  EXPECT_EQ(type_of(form, "q=%FF&format=html"), page);
  EXPECT_EQ(type_of(form, "q=%FF"), page);
}

TEST(ExplainEndpoint, ATextOfTheTargetsLanguageIsNamed) {
  ExplainingServer server(quoted);
  const HttpResponse response =
      server.explain({{"source", "auto"}, {"q", "Der alte Lehrer hat das grüne Auto repariert."}});
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(json_of(response)["error"], HasSubstr("seems to be in de already"));
}

TEST(ExplainEndpoint, ATextThatCannotBeExplainedIs400) {
  ExplainingServer server(quoted, {.limits = {.explained_characters = 5}});
  const auto expect_refusal = [&](const json& changes, const std::string& text) {
    const HttpResponse response = server.explain(changes);
    EXPECT_EQ(response.status, 400) << changes;
    EXPECT_THAT(json_of(response)["error"].get<std::string>(), Names(text));
  };
  expect_refusal({{"q", ""}}, "missing q");
  expect_refusal({{"q", "one two"}}, "7 characters ... limit ... 5");
  expect_refusal({{"terms", "one=two"}}, "terms");
  expect_refusal({{"target", "xx"}}, "xx");
  expect_refusal({{"source", "fr"}}, "fr to de ... explained");
  expect_refusal({{"source", "fr"}, {"target", "en"}}, "fr to en ... explained");
  expect_refusal({{"source", "de"}}, "de to de");
  const HttpResponse unknown = server.explain({{"format", "xml"}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, Names("xml format"));
  EXPECT_EQ(server.get("/explain").status, 405);
}

TEST(ExplainEndpoint, AReaderSeesAnErrorOnThePageOfTheServer) {
  ExplainingServer server(quoted, {.limits = {.explained_characters = 5}});
  const HttpResponse page = server.explain({{"q", "one two"}, {"format", "html"}});
  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("exceeds text limit"));
  EXPECT_THAT(page.body, HasSubstr("one two</textarea>"));
}

TEST(ExplainEndpoint, AFaultOfTheTextIs400AndAnotherIs500) {
  const auto thrower = [](const std::string& text, ExplanationUse,
                          const OnStep&) -> TextExplanation {
    if (text == "one") throw HttpError(400, "the sentence has 900 pieces");
    if (text == "two") throw Error("the model's probabilities are not numbers");
    throw std::runtime_error("no more memory");
  };
  ExplainingServer server(thrower);
  const HttpResponse unfit = server.explain();
  EXPECT_EQ(unfit.status, 400);
  EXPECT_THAT(json_of(unfit)["error"], HasSubstr("900 pieces"));
  EXPECT_EQ(server.explain({{"q", "two"}}).status, 500);
  EXPECT_EQ(server.explain({{"q", "three"}}).status, 500);
}

TEST(ExplainEndpoint, TheEndpointCanBeTurnedOff) {
  ExplainingServer server(quoted, {.limits = {.explained_characters = 0}});
  EXPECT_EQ(server.explain().status, 403);
  EXPECT_THAT(server.get("/").body, HasSubstr("data-most=\"0\" hidden>Explain"));
  ExplainingServer with(quoted);
  EXPECT_THAT(with.get("/").body, HasSubstr("data-most=\"500\">Explain"));
}

TEST(ExplainEndpoint, OneExplanationIsMadeAtATimeAndTranslationsContinue) {
  HeldServer held;
  ExplainingServer& server = held.server;
  std::vector<std::future<HttpResponse>> admitted;
  admitted.push_back(std::move(held.first));
  for (std::size_t i = 0; i < TranslationServer::kMostExplanations; ++i)
    admitted.push_back(server.send(ExplainingServer::request()));
  const HttpResponse refused = server.explain();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(header_of(refused, "Retry-After"), "1");
  EXPECT_THAT(json_of(refused)["error"], HasSubstr("explanations wait"));
  EXPECT_EQ(server.post("/translate", {{"q", "one"}, {"source", "en"}, {"target", "de"}}).status,
            200);
  EXPECT_EQ(held.made, 1);
  held.gate.open(true);
  for (auto& response : admitted) EXPECT_EQ(response.get().status, 200);
  EXPECT_EQ(server.explain().status, 200);
}

TEST(ExplainEndpoint, ClientsThatAreGoneLeaveTheirPlaces) {
  HeldServer held;
  ExplainingServer& server = held.server;
  std::stop_source gone;
  std::vector<std::future<HttpResponse>> left;
  for (std::size_t i = 0; i < TranslationServer::kMostExplanations; ++i)
    left.push_back(server.send(ExplainingServer::request(), gone.get_token()));
  EXPECT_EQ(server.explain().status, 503);
  gone.request_stop();
  auto next = server.send(ExplainingServer::request());
  const auto answered = left.front().wait_for(std::chrono::seconds(10));
  held.gate.open(true);
  EXPECT_EQ(answered, std::future_status::ready) << "while an explanation is made";
  for (auto& response : left) EXPECT_EQ(response.get().status, kClientGone);
  EXPECT_EQ(held.first.get().status, 200);
  EXPECT_EQ(next.get().status, 200);
  EXPECT_EQ(held.made, 2);
}

/// Works until it is stopped.
TextExplanation endless(const std::string&, ExplanationUse, const OnStep& on_step) {
  while (true) {
    on_step();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

TEST(ExplainEndpoint, AnExplanationEndsAtTheDeadlineAndWhenTheClientGoes) {
  ExplainingServer server(endless, {.request_timeout = milliseconds(50)});
  EXPECT_EQ(server.explain().status, 504);
  ExplainingServer patient(endless);
  std::stop_source gone;
  auto response = patient.send(ExplainingServer::request(), gone.get_token());
  ASSERT_EQ(response.wait_for(milliseconds(30)), std::future_status::timeout);
  gone.request_stop();
  EXPECT_EQ(response.get().status, kClientGone);
}

TEST(ExplainEndpoint, AServerThatEndsAnswersAll) {
  std::vector<std::future<HttpResponse>> responses;
  {
    ExplainingServer server(endless);
    for (int i = 0; i < 3; ++i) responses.push_back(server.send(ExplainingServer::request()));
    // Posted work that has not begun may be dropped. Once this has begun, the work before it has,
    // too.
    ASSERT_EQ(server.post("/detect", {{"q", "one"}}).status, 200);
  }
  for (auto& response : responses) EXPECT_EQ(response.get().status, 503);
}

TEST(ExplainEndpoint, AnExplanationCountsForTheQuotaOfAKey) {
  const ScratchFile keys("keys", "alpha 7\n");
  const auto second_fails = [](const std::string& text, ExplanationUse use, const OnStep& on_step) {
    if (text == "two") throw HttpError(400, "unfit");
    return quoted(text, use, on_step);
  };
  ExplainingServer server(second_fails, {.api_keys = std::make_shared<ApiKeys>(keys.path())});
  EXPECT_EQ(server.explain().status, 400) << "no key";
  EXPECT_EQ(server.explain({{"api_key", "beta"}}).status, 403);
  const json key = {{"api_key", "alpha"}};
  EXPECT_EQ(server.explain(key).status, 200);
  EXPECT_EQ(server.explain({{"api_key", "alpha"}, {"q", "two"}}).status, 400) << "is given back";
  EXPECT_EQ(server.explain(key).status, 200);
  EXPECT_EQ(server.explain(key).status, 429);
}

}  // namespace
}  // namespace dragoman
