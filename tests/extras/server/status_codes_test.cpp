// The status of each refusal by both interfaces, as a client of HTTP sees it. The description of
// the server, /openapi.json, has them all.
#include <deque>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "extras/server/http_server.h"
#include "tests/extras/server/table_server.h"
#include "tests/http_client.h"

namespace dragoman {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::int64_t kBodyLimit = 20'000;  // bytes
constexpr std::int64_t kCharacters = 1'000;  // of a request

enum class State {
  Ready,
  Hurried,  ///< one request a minute, which has come
  Busy,     ///< no more sentences may wait
  Crowded,  ///< the bodies that have come in part fill the memory for bodies
  Slow,     ///< no translation ends in time
  Broken,   ///< the engine fails
  Full,     ///< with glossaries
};

/// A server with the keys alpha, of 30 characters, and beta.
class Served {
 public:
  explicit Served(State state)
      : table_({"en-de"}, config(state), state == State::Busy ? 4 : 65'536),
        http_({.port = 0, .body_limit = kBodyLimit},
              std::bind_front(&TranslationServer::handle, table_.server.get()),
              std::bind_front(&TranslationServer::refuse, table_.server.get())) {
    if (state == State::Hurried) table_.post("/translate", kGood);
    if (state == State::Busy || state == State::Slow) table_.gate.open(false);
    if (state == State::Busy) fill_queue();
    if (state == State::Crowded) fill_memory();
    if (state == State::Broken) table_.engines[0]->fails = true;
  }

  HttpClient::Answer ask(const std::string& request) const {
    return HttpClient(http_.port()).ask(request);
  }

  inline static const json kGood = {
      {"q", "one"}, {"source", "en"}, {"target", "de"}, {"api_key", "beta"}};

 private:
  ServerConfig config(State state) const {
    const auto file = folder_.path() / "keys.txt";
    std::ofstream(file) << "alpha 30\nbeta\n";
    ServerConfig config{.limits = {.characters = kCharacters},
                        .requests_per_minute = state == State::Hurried ? 1 : -1,
                        .request_timeout = milliseconds(state == State::Slow ? 50 : 60'000),
                        .api_keys = std::make_shared<ApiKeys>(file),
                        .suggestions = std::make_shared<AppendFile>("/dev/full"),  // takes no byte
                        .glossaries = std::make_shared<Glossaries>(folder_.path() / "glossaries")};
    if (state == State::Full) fill(*config.glossaries, config.api_keys->owner_of(1));
    return config;
  }

  /// Less than kBodyLimit is left.
  static void fill(Glossaries& glossaries, const std::string& owner) {
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(
          glossaries.keep({.facts = {.name = "x", .owner = owner},
                           .dictionaries = {{.languages = {"en", "de"},
                                             .entries = {{"one", std::string(3'490'000, 'x')}}}}}));
  }

  void fill_queue() {
    json many = kGood;
    many["q"] = std::vector<std::string>(100, "one");
    for (int i = 0; i < 2; ++i)
      waiting_.push_back(table_.send(TableServer::request_of("/translate", many)));
  }

  /// Bodies without their last byte: of the largest size, then small ones for what is left.
  void fill_memory() {
    const auto begin = [this](std::int64_t size) {
      const std::string whole = HttpClient::post("/translate", std::string(size, ' '));
      clients_.emplace_back(http_.port()).send(whole.substr(0, whole.size() - 1));
    };
    for (int i = 0; i < 64; ++i) begin(kBodyLimit);
    do begin(50);
    while (ask(HttpClient::post("/translate", json_text(kGood))).status != 503);
  }

  const ScratchFolder folder_{testing::TempDir() + "status-"};
  TableServer table_;
  std::vector<std::future<HttpResponse>> waiting_;
  HttpServer http_;
  std::deque<HttpClient> clients_;
};

struct Refusal {
  int status;
  std::string path;
  json changes = nullptr;  ///< of a good request
  State state = State::Ready;
  std::string method = "post";
  std::string encoding = "";  ///< of the body

  bool is_deepl() const { return path.starts_with("/v2/"); }

  json body() const {
    json body = Served::kGood;
    if (path == "/suggest") body["s"] = "eins";
    if (path == "/v2/translate")
      body = {
          {"text", {"one"}}, {"source_lang", "EN"}, {"target_lang", "DE"}, {"auth_key", "beta"}};
    if (path == "/v2/glossaries")
      body = {{"name", "mine"},        {"source_lang", "en"},     {"target_lang", "de"},
              {"entries", "one\ttwo"}, {"entries_format", "tsv"}, {"auth_key", "beta"}};
    if (!changes.is_null()) body.update(changes);
    return body;
  }

  std::string request() const {
    if (method == "get") return HttpClient::get(path);
    const std::string header = encoding.empty() ? "" : "\r\nContent-Encoding: " + encoding;
    return HttpClient::post(path, json_text(body()), "application/json" + header);
  }
};

const std::string kLong(40, 'x'), kTooLong(kCharacters + 1, 'x'), kTooLarge(kBodyLimit + 1, 'x');

/// This many entries of about 1,000 bytes.
std::string many_entries(int count) {
  std::string entries;
  for (int i = 0; i < count; ++i)
    entries += join_text("term ", i, '\t', std::string(1'000, 'x'), '\n');
  return entries;
}

const std::vector<Refusal> kRefusals = {
    {400, "/translate", {{"q", nullptr}}},
    {400, "/translate", {{"q", kTooLong}}},
    {400, "/translate", {{"api_key", nullptr}}},
    {403, "/translate", {{"api_key", "gamma"}}},
    {413, "/translate", {{"q", kTooLarge}}},
    {415, "/translate", {}, State::Ready, "post", "br"},
    {429, "/translate", {{"q", kLong}, {"api_key", "alpha"}}},
    {429, "/translate", {}, State::Hurried},
    {500, "/translate", {}, State::Broken},
    {503, "/translate", {}, State::Busy},
    {503, "/translate", {}, State::Crowded},
    {504, "/translate", {}, State::Slow},
    {404, "/nothing"},
    {405, "/translate", {}, State::Ready, "get"},
    {400, "/suggest", {{"s", nullptr}}},
    {403, "/suggest", {{"api_key", "gamma"}}},
    {413, "/suggest", {{"s", kTooLarge}}},
    {415, "/suggest", {}, State::Ready, "post", "br"},
    {429, "/suggest", {}, State::Hurried},
    {500, "/suggest"},
    {503, "/suggest", {}, State::Crowded},
    {400, "/v2/translate", {{"text", nullptr}}},
    {403, "/v2/translate", {{"auth_key", nullptr}}},
    {403, "/v2/translate", {{"auth_key", "gamma"}}},
    {404, "/v2/translate", {{"glossary_id", "00000000-0000-4000-8000-000000000000"}}},
    {413, "/v2/translate", {{"text", {kTooLong}}}},
    {413, "/v2/translate", {{"text", {kTooLarge}}}},
    {415, "/v2/translate", {}, State::Ready, "post", "deflate"},
    {429, "/v2/translate", {}, State::Hurried},
    {456, "/v2/translate", {{"text", {kLong}}, {"auth_key", "alpha"}}},
    {500, "/v2/translate", {}, State::Broken},
    {503, "/v2/translate", {}, State::Busy},
    {503, "/v2/translate", {}, State::Crowded},
    {504, "/v2/translate", {}, State::Slow},
    {404, "/v2/nothing"},
    {405, "/v2/document", {}, State::Ready, "get"},
    {400, "/v2/glossaries", {{"name", nullptr}}},
    {403, "/v2/glossaries", {{"auth_key", "gamma"}}},
    {413, "/v2/glossaries", {{"entries", "one\t" + kTooLarge}}},
    {415, "/v2/glossaries", {}, State::Ready, "post", "br"},
    {429, "/v2/glossaries", {}, State::Hurried},
    {456, "/v2/glossaries", {{"entries", many_entries(18)}}, State::Full},
    {503, "/v2/glossaries", {}, State::Crowded},
};

TEST(StatusCodes, StatusCodesAreThoseOfTheInterfaces) {
  const json paths =
      parse_json(Served(State::Ready).ask(HttpClient::get("/openapi.json")).body).at("paths");
  for (const Refusal& refusal : kRefusals) {
    SCOPED_TRACE(refusal.path + " " + std::to_string(refusal.status));
    const HttpClient::Answer answer = Served(refusal.state).ask(refusal.request());
    EXPECT_EQ(answer.status, refusal.status) << answer.body;
    const json body = parse_json_or_discard(answer.body);
    ASSERT_TRUE(body.is_object()) << answer.body;
    EXPECT_NE(body.value(refusal.is_deepl() ? "message" : "error", ""), "") << answer.body;
    if (refusal.status == 503 || refusal.state == State::Hurried) {
      EXPECT_THAT(answer.head, HasSubstr("\r\nRetry-After: "));
    }
    if (refusal.status == 415) {
      EXPECT_THAT(answer.body, HasSubstr(refusal.encoding));
      EXPECT_THAT(answer.head, HasSubstr("\r\nAccept-Encoding: gzip, identity\r\n"));
    }
    if (refusal.state == State::Crowded) {
      EXPECT_THAT(answer.body, HasSubstr("too many requests at once"));
    }
    const bool is_described =
        paths.contains(refusal.path) && paths[refusal.path].contains(refusal.method);
    if (is_described) {
      EXPECT_TRUE(paths[refusal.path][refusal.method]["responses"].contains(
          std::to_string(refusal.status)));
    }
  }
}

TEST(StatusCodes, ARequestThatIsRefusedUnreadIsLoggedAndCountedAndPagesMayReadTheAnswer) {
  TableServer table({"en-de"}, {.cors_origins = {"*"}});
  const auto refuse = [&table](const std::string& path, const HttpError& why) {
    return table.server->refuse({.method = "POST", .path = path, .client = "192.0.2.1"}, why);
  };
  const HttpResponse large = refuse("/translate", {413, "too large"});
  EXPECT_EQ(large.status, 413);
  EXPECT_EQ(json_of(large), json({{"error", "too large"}}));
  EXPECT_EQ(header_of(large, "Access-Control-Allow-Origin"), "*");
  const HttpResponse crowded = refuse("/v2/translate", {503, "too many", 1});
  EXPECT_EQ(json_of(crowded), json({{"message", "too many"}}));
  EXPECT_EQ(header_of(crowded, "Retry-After"), "1");
  EXPECT_THAT(refuse("/", {413, "too large"}).type, HasSubstr("text/html"));
  const std::vector<AnsweredRequest> answered = table.answered();
  ASSERT_EQ(answered.size(), 3u);
  EXPECT_EQ(answered[0].client + answered[0].method + answered[0].path, "192.0.2.1POST/translate");
  EXPECT_EQ(answered[0].status, 413);
  const std::string metrics = table.get("/metrics").body;
  for (const char* line : {"\ndragoman_requests_total{path=\"/translate\",status=\"413\"} 1\n",
                           "\ndragoman_requests_under_way 1\n", "\ndragoman_refused_total 1\n"})
    EXPECT_THAT(metrics, HasSubstr(line));
}

}  // namespace
}  // namespace dragoman
