// Requests that web pages of other origins make browsers send, and host names in requests.
#include "tests/extras/server/table_server.h"
#include "tests/folder_test.h"

namespace dragoman {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Headers = std::map<std::string, std::string, std::less<>>;

/// A form, which browsers send anywhere without asking.
HttpRequest form(const std::string& path, const std::string& body, const Headers& headers) {
  HttpRequest request{.method = "POST", .path = path, .headers = headers, .body = body};
  request.headers.emplace("host", "localhost:5000");
  request.headers["content-type"] = "application/x-www-form-urlencoded";
  return request;
}

class ForeignRequests : public FolderTest {
 protected:
  ServerConfig config() const {
    return {.suggestions = std::make_shared<AppendFile>(folder / "suggestions"),
            .glossaries = std::make_shared<Glossaries>(folder / "glossaries")};
  }

  int status(ServerConfig server, const Headers& headers, const std::string& path) const {
    TableServer table({"en-de"}, std::move(server));
    return table.ask(form(path, kBodies.at(path), headers)).status;
  }

  inline static const Headers kBodies = {
      {"/suggest", "q=one&s=eins&source=en&target=de"},
      {"/v2/glossaries",
       "name=n&source_lang=en&target_lang=de&entries=one%09two&entries_format=tsv"},
      {"/translate", "q=one&source=en&target=de"},
      {"/detect", "q=one"},
      {"/v2/translate", "text=one&source_lang=EN&target_lang=DE"},
      {"/", "q=one&source=en&target=de"}};
};

TEST_F(ForeignRequests, APageOfAnotherOriginChangesNothing) {
  for (const char* path : {"/suggest", "/v2/glossaries"})
    for (const Headers& foreign :
         {Headers{{"origin", "https://evil.example"}}, Headers{{"origin", "null"}},
          Headers{{"origin", "http://localhost:8080"}}, Headers{{"sec-fetch-site", "cross-site"}},
          Headers{{"sec-fetch-site", "same-site"}},
          Headers{{"origin", "http://localhost:5000"}, {"sec-fetch-site", "cross-site"}}})
      EXPECT_EQ(status(config(), foreign, path), 403) << path << testing::PrintToString(foreign);
}

TEST_F(ForeignRequests, APageOfTheServerAndProgramsMayChangeThings) {
  for (const Headers& own :
       {Headers{}, Headers{{"origin", "http://localhost:5000"}},
        Headers{{"sec-fetch-site", "same-origin"}}, Headers{{"sec-fetch-site", "none"}},
        // A proxy has put its own name for the server into Host.
        Headers{{"origin", "https://mt.example.org"}, {"sec-fetch-site", "same-origin"}}}) {
    EXPECT_EQ(status(config(), own, "/suggest"), 200) << testing::PrintToString(own);
    EXPECT_EQ(status(config(), own, "/v2/glossaries"), 201) << testing::PrintToString(own);
  }
  ServerConfig proxied = config();
  proxied.public_url = "https://mt.example.org/translate";
  EXPECT_EQ(status(proxied, {{"origin", "https://mt.example.org"}}, "/suggest"), 200);
}

TEST_F(ForeignRequests, APageOfAnOriginThatIsNamedMayChangeThings) {
  ServerConfig named = config();
  named.cors_origins = {"https://example.org"};
  EXPECT_EQ(status(named, {{"origin", "https://example.org"}}, "/suggest"), 200);
  EXPECT_EQ(status(named, {{"origin", "https://example.com"}}, "/suggest"), 403);
  named.cors_origins = {"*"};
  EXPECT_EQ(status(named, {{"origin", "https://example.com"}}, "/suggest"), 200);
}

TEST_F(ForeignRequests, APageOfAnotherOriginMayTranslate) {
  for (const char* path : {"/translate", "/detect", "/v2/translate", "/"})
    EXPECT_EQ(status(config(), {{"origin", "https://example.com"}}, path), 200) << path;
}

TEST_F(ForeignRequests, AServerAnswersToItsOwnNamesOnly) {
  ServerConfig bound;
  bound.hosts = {{"mt.example.org"}};
  TableServer table({"en-de"}, bound);
  const auto get = [&table](const std::string& host) {
    return table.ask({.method = "GET", .path = "/languages", .headers = {{"host", host}}});
  };
  for (const char* known : {"", "localhost", "localhost:5000", "127.0.0.1:5000", "[::1]:5000",
                            "a.localhost", "MT.example.org", "mt.example.org:443"})
    EXPECT_EQ(get(known).status, 200) << known;
  for (const char* other : {"evil.example", "evil.example:5000", "10.0.0.1", "example.org"}) {
    EXPECT_EQ(get(other).status, 403) << other;
    EXPECT_THAT(get(other).body, AllOf(HasSubstr("--public-url"), HasSubstr("--allowed-hosts")));
  }
  for (const char* wrong : {"a/b", "user@a", "a:b", "\"a\""})
    EXPECT_EQ(get(wrong).status, 400) << wrong;
}

TEST_F(ForeignRequests, WithoutARuleAnyValidHostIsAnswered) {
  TableServer table({"en-de"});
  const auto status = [&table](const std::string& host) {
    return table.ask({.method = "GET", .path = "/health", .headers = {{"host", host}}}).status;
  };
  EXPECT_EQ(status("any.example"), 200);
  EXPECT_EQ(status("10.0.0.1:5000"), 200) << "as Kubernetes asks for the health";
  EXPECT_EQ(status("a/b"), 400);
}

}  // namespace
}  // namespace dragoman
