// serve: the real program, spoken to over sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/json.h"
#include "tests/extras/server/system/serve_fixture.h"
#include "tests/http_client.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(Serve, TranslationsAreThoseOfTheCommand) {
  const Serving server(model());
  HttpClient client(server.port);
  for (const char* line : {"the cat sat", "number 7", "mat", "the cat sat"}) {
    const HttpClient::Answer answer = client.ask(translation_of(line));
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.head, HasSubstr("Content-Type: application/json\r\n"));
    EXPECT_EQ(parse_json(answer.body)["translatedText"], translated(line)) << "one connection";
  }
  EXPECT_EQ(server.metric("dragoman_cache_hits_total{languages=\"en-de\"}"), 1);
}

TEST_F(Serve, OnDemandAModelIsLoadedByItsFirstRequest) {
  Serving server(model(), {"--load-on-demand"});
  const auto facts = [&] {
    return parse_json(server.ask(HttpClient::get("/version")).body)["models"][0];
  };
  EXPECT_EQ(facts()["loaded"], false);
  EXPECT_THAT(server.ask(HttpClient::get("/languages")).body, HasSubstr("\"de\""));
  EXPECT_EQ(server.ask(HttpClient::get("/health")).status, 200);
  EXPECT_EQ(parse_json(server.ask(translation_of("the cat sat")).body)["translatedText"],
            translated("the cat sat"));
  EXPECT_EQ(facts()["loaded"], true);
  EXPECT_TRUE(server.process().wait_for_errors("is loaded, "));
}

TEST_F(Serve, TranslationsOfTheServerAreExplained) {
  const Serving server(model(), {"--explain-limit", "40"});
  const auto explain = [&](const std::string& text) {
    return server.ask(HttpClient::post(
        "/explain",
        json_text(json{{"q", text}, {"source", "en"}, {"target", "de"}, {"format", "json"}})));
  };
  const HttpClient::Answer answer = explain("the cat sat\n\nmat number 7\n");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const json explanation = parse_json(answer.body);
  EXPECT_EQ(explanation["model"]["name"], "en-de");
  ASSERT_EQ(explanation["sentences"].size(), 2u);
  EXPECT_EQ(explanation["sentences"][0]["source"], "the cat sat");
  EXPECT_EQ(explanation["sentences"][0]["target"], translated("the cat sat"));
  EXPECT_EQ(explanation["sentences"][1]["target"], translated("mat number 7"));
  EXPECT_EQ(explain(" ").status, 400);
  EXPECT_EQ(explain(std::string(41, 'a')).status, 400);
  const HttpClient::Answer page = server.ask(HttpClient::post(
      "/explain", json_text(json{{"q", "cat"}, {"source", "en"}, {"target", "de"}})));
  EXPECT_THAT(page.head, HasSubstr("sandbox allow-scripts"));
  EXPECT_THAT(page.body, HasSubstr("\"dragoman explanation page\""));
}

TEST_F(Serve, ALongTextIsNotExplained) {
  const Serving server(model(), {"--explain-limit", "2000"});
  std::string text;
  for (int i = 0; i < 300; ++i) text += "cat ";
  const HttpClient::Answer answer = server.ask(HttpClient::post(
      "/explain",
      json_text(json{{"q", text}, {"source", "en"}, {"target", "de"}, {"format", "json"}})));
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("pieces; an explanation takes 256 at most"));
}

TEST_F(Serve, ManyClientsAtOnceGetTheirOwnAnswers) {
  const Serving server(model(), {"--threads", "2"});
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i)
    expected.push_back(translated("the cat number " + std::to_string(i)));
  std::vector<std::jthread> clients;
  for (int c = 0; c < 20; ++c)
    clients.emplace_back([&, c] {
      HttpClient client(server.port);
      for (int i = 0; i < 20; ++i) {
        const int n = (c + i) % 10;
        const auto answer = client.ask(translation_of("the cat number " + std::to_string(n)));
        ASSERT_EQ(answer.status, 200);
        EXPECT_EQ(parse_json(answer.body)["translatedText"], expected[static_cast<std::size_t>(n)]);
      }
    });
  clients.clear();
  EXPECT_EQ(server.metric("dragoman_texts_total"), 400);
}

TEST_F(Serve, BadRequestsGetTheirStatusAndCostNoOther) {
  const Serving server(model(), {"--body-limit", "5000"});
  const std::string good = translation_of("the cat");
  EXPECT_EQ(server.ask(HttpClient::post("/translate", "{\"q\":")).status, 400);
  EXPECT_EQ(server.ask(HttpClient::post("/translate", "{\"q\":\"\xff\"}")).status, 400);
  EXPECT_EQ(server.ask(HttpClient::post("/translate", std::string(1000, '['))).status, 400);
  EXPECT_EQ(server.ask(HttpClient::post("/translate", "", "")).status, 400);
  EXPECT_EQ(server.ask(HttpClient::get("/translate")).status, 405);
  EXPECT_EQ(server.ask(HttpClient::get("/../etc/passwd")).status, 404);
  EXPECT_EQ(server.ask(HttpClient::get("/a%00b")).status, 400);
  EXPECT_THAT(server.ask("nonsense\r\n\r\n").status, AnyOf(0, 400));
  EXPECT_EQ(server.ask(HttpClient::post("/translate", std::string(5001, ' '))).status, 413);
  EXPECT_EQ(server.ask(good).status, 200);
}

TEST_F(Serve, ALargeBodyIs413ThoughItDoesNotSayItsLength) {
  const Serving server(model(), {"--body-limit", "5000"});
  HttpClient client(server.port);
  client.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 10; ++i) client.send("3e8\r\n" + std::string(1000, 'x') + "\r\n");
  client.send("0\r\n\r\n");
  EXPECT_EQ(client.receive().status, 413);
  HttpClient endless(server.port);
  endless.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 200; ++i) endless.send("3e8\r\n" + std::string(1000, 'x') + "\r\n");
  EXPECT_THAT(endless.receive().status, AnyOf(0, 413)) << "nobody reads on for ever";
  EXPECT_EQ(server.ask(translation_of("the cat")).status, 200);
}

TEST_F(Serve, SlowClientsAreLetGoAndHoldNobodyUp) {
  const Serving server(model(), {"--connection-timeout", "1"});
  std::vector<std::unique_ptr<HttpClient>> slow;
  for (int i = 0; i < 100; ++i) slow.push_back(std::make_unique<HttpClient>(server.port));
  const std::string request = translation_of("the cat sat");
  for (std::size_t i = 0; i < slow.size(); ++i) slow[i]->send(request.substr(0, i));
  EXPECT_EQ(server.ask(request).status, 200);
  // One more byte now and then does not keep a connection alive.
  const auto begin = std::chrono::steady_clock::now();
  HttpClient trickling(server.port);
  std::size_t at = 0;
  while (trickling.receive(milliseconds(200)).status == 0 && at < 40 && at < request.size())
    trickling.send(request.substr(at++, 1));
  for (auto& client : slow) EXPECT_THAT(client->receive().status, AnyOf(0, 400, 408));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  trickling.send(request.substr(at));
  EXPECT_EQ(trickling.receive().status, 0);
  EXPECT_EQ(server.ask(request).status, 200);
}

TEST_F(Serve, AClientThatGoesFreesItsRows) {
  Serving server(model(), kSlowly);
  {
    HttpClient client(server.port);
    client.send(long_work());
    EXPECT_EQ(client.receive(milliseconds(300)).status, 0) << "it is under way";
    EXPECT_GT(server.metric("dragoman_waiting_sentences{languages=\"en-de\"}"), 0);
  }
  EXPECT_TRUE(server.process().wait_for_errors("POST /translate 499"));
  EXPECT_TRUE(nothing_waits(server));
}

TEST_F(Serve, ATranslationThatTakesTooLongIsGivenUp) {
  std::vector<std::string> flags = kSlowly;
  flags.insert(flags.end(), {"--request-timeout", "0.3"});
  const Serving server(model(), flags);
  const auto answer = server.ask(long_work());
  EXPECT_EQ(answer.status, 504);
  EXPECT_THAT(parse_json(answer.body)["error"], HasSubstr("too long"));
  EXPECT_TRUE(nothing_waits(server));
}

TEST_F(Serve, WhileTooMuchWaitsRequestsAreRefused) {
  std::vector<std::string> flags = kSlowly;
  flags.insert(flags.end(), {"--waiting-limit", "10"});
  const Serving server(model(), flags);
  HttpClient client(server.port);
  client.send(long_work());
  EXPECT_EQ(client.receive(milliseconds(300)).status, 0);
  const auto answer = server.ask(translation_of("the cat"));
  EXPECT_EQ(answer.status, 503);
  EXPECT_THAT(answer.head, HasSubstr("Retry-After: "));
  EXPECT_EQ(server.ask(HttpClient::get("/health")).status, 200);
}

TEST_F(Serve, ASignalEndsTheServerWhenAllUnderWayIsAnswered) {
  for (const int signal : {SIGTERM, SIGINT}) {
    Serving server(model(), {"--beam-size", "100", "--max-length", "60", "--min-length", "60",
                             "--cache-limit", "0"});
    std::string text;
    for (int i = 0; i < 6; ++i) text += "the cat number 7\n";
    HttpClient busy(server.port), idle(server.port);
    busy.send(translation_of(text));
    EXPECT_EQ(busy.receive(milliseconds(50)).status, 0);
    server.process().send_signal(signal);
    ASSERT_TRUE(server.process().wait_for_errors("finishing cleanly"));
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ(HttpClient(server.port).ask(translation_of("the cat")).status, 0) << "no new ones";
    const auto answer = busy.receive();
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.head, HasSubstr("Connection: close"));
    const ProcessResult result = server.process().wait();
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output, "");
  }
}

TEST_F(Serve, UnderLoadASignalLosesNoRequestThatWasTaken) {
  Serving server(model(), {"--threads", "2"});
  std::atomic<int> answered = 0, lost = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&] {
      for (;;) {
        HttpClient client(server.port);
        if (!client.connected()) return;
        const auto answer = client.ask(translation_of("the cat sat on mat 7"));
        if (answer.status == 0 || answer.status == 503) return;  // not taken
        ++(answer.status == 200 ? answered : lost);
      }
    });
  while (answered < 100) std::this_thread::sleep_for(milliseconds(1));
  server.process().send_signal(SIGTERM);
  const ProcessResult result = server.process().wait();
  clients.clear();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(lost, 0);
  int logged = 0;
  for (const std::string& line : lines_of(result.errors))
    if (line.find("POST /translate 200") != std::string::npos) ++logged;
  EXPECT_EQ(logged, answered) << "each answer arrived";
}

TEST_F(Serve, TheLogHasALineForEachRequestWithoutItsText) {
  Serving server(model(), {"--log-format", "json"});
  server.ask(translation_of("the secret cat"));
  server.ask(HttpClient::get("/languages?q=secret"));
  ASSERT_TRUE(server.process().wait_for_errors("/languages"));
  server.process().send_signal(SIGTERM);
  const ProcessResult result = server.process().wait();
  EXPECT_THAT(result.errors, Not(HasSubstr("secret")));
  std::vector<json> requests;
  for (const std::string& line : lines_of(result.errors)) {
    const json object = parse_json(line);
    if (object.contains("path")) requests.push_back(object);
  }
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0]["languages"], "en-de");
  EXPECT_EQ(requests[0]["characters"], 14);
  EXPECT_EQ(requests[1]["status"], 200);
}

TEST_F(Serve, TheServerWorksAsTheFirstProcessOfAContainer) {
  Process probe(CommandWords{{"unshare", "--pid", "--fork", "true"}});
  if (probe.wait().exit_code != 0) GTEST_SKIP() << "this machine allows no new process namespace";
  // At the end of its input the shell sends the signal only to the first process.
  std::vector<std::string> command = {"sh", "-c",
                                      "unshare --pid --fork \"$@\" & u=$!; read line; "
                                      "kill -TERM $(cat /proc/$u/task/$u/children); wait $u",
                                      "sh"};
  for (const std::string& word : Serving::command(model(), {})) command.push_back(word);
  Process process(CommandWords{command});
  ASSERT_TRUE(process.wait_for_errors("ready after"));
  const ProcessResult result = process.wait(Process::Seconds(10));
  EXPECT_FALSE(result.timed_out);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.errors, HasSubstr("SIGTERM: finishing cleanly"));
}

TEST_F(Serve, AModelThatCannotBeServedIsRefusedByName) {
  const std::string path = model().string();
  const auto fault = [&](std::vector<std::string> words, int code) {
    words.insert(words.begin(), {kLiteProgram, "serve"});
    Process process(CommandWords{words});
    const ProcessResult result = process.wait(Process::Seconds(10));
    EXPECT_EQ(result.exit_code, code) << result.errors;
    return result.errors;
  };
  EXPECT_THAT(fault({}, 2), Names("--model ... run folder"));
  EXPECT_THAT(fault({"-m", path}, 2), HasSubstr("write SOURCE-TARGET=PATH"));
  EXPECT_THAT(fault({"-m", "en-en=" + path}, 2), HasSubstr("the same language"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "en-de=" + path}, 2), HasSubstr("given twice"));
  EXPECT_THAT(fault({"-m", path, "--source-lang", "en"}, 2), Names("--target-lang: ... file"));
  EXPECT_THAT(fault({"-m", path, "--source-lang", "english", "--target-lang", "de"}, 2),
              Names("--source-lang ... english ... code"));
  EXPECT_THAT(fault({"-m", path, "--api-keys", ""}, 2), Names("--api-keys ... empty"));
  EXPECT_THAT(fault({"-m", path, "--source-lang", "en", "--target-lang", "en"}, 2),
              HasSubstr("the same language"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--source-lang", "fr"}, 2),
              HasSubstr("for a single --model PATH"));
  EXPECT_THAT(fault({"-m", "/nowhere"}, 1), HasSubstr("no such model"));
  EXPECT_THAT(fault({"-m", "en-de=/nowhere"}, 1), HasSubstr("/nowhere"));
  EXPECT_THAT(fault({"-m", "en-de=/nowhere", "--load-on-demand"}, 1), HasSubstr("/nowhere"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--sampling", "--beam-size", "4"}, 2),
              Names("--beam-size ... --sampling"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--port", "70000"}, 2), HasSubstr("65535"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--char-limit", "-2"}, 2),
              Names("--char-limit: -2 ... -1 ... 1,000,000,000"));
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--host", "no.such.host.invalid"}, 1),
              HasSubstr("--host no.such.host.invalid"));
  for (const std::string& model : {path, std::string("/missing")})  // which would be loaded later
    EXPECT_THAT(fault({"-m", "en-de=" + model, "--api-keys", "/nowhere"}, 1),
                HasSubstr("/nowhere"));
  const Serving server(model());
  EXPECT_THAT(fault({"-m", "en-de=" + path, "--port", std::to_string(server.port)}, 1),
              AllOf(HasSubstr("Address already in use"), HasSubstr("--port")));
}

TEST_F(Serve, ALoneModelMayHaveItsLanguagesBesideIt) {
  Process process(CommandWords{{kLiteProgram, "serve", "-m", folder_.path().string(),
                                "--source-lang", "fr", "--target-lang", "de", "--port", "0"}});
  EXPECT_TRUE(process.wait_for_errors("fr-de: "));
  EXPECT_TRUE(process.wait_for_errors("ready after"));
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.wait().exit_code, 0);
}

}  // namespace
}  // namespace dragoman
