// The page without a browser; tests/system/server_page.py opens it in one.
#include "extras/server/web_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/files.h"
#include "tests/extras/server/table_server.h"

namespace dragoman {
namespace {

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
  for (const char* part : {"server.js", "words.js", "files.js"})
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

TEST(WebPage, ALanguageBetweenTwoIsSaidWithoutJavaScriptToo) {
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
  EXPECT_THAT(page.body, HasSubstr("<details open>"));
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

TEST(WebPage, ThePageAsksForAKeyWhereThereAreKeys) {
  const std::string path = testing::TempDir() + "web_page_keys";
  write_file(path, "alpha\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(path)});
  EXPECT_THAT(table.get("/").body, HasSubstr("<div class=\"key\">"));
  EXPECT_EQ(table.ask(form("q=one&source=en&target=de")).status, 400);
  EXPECT_EQ(table.ask(form("q=one&source=en&target=de&api_key=alpha")).status, 200);
}

}  // namespace
}  // namespace dragoman
