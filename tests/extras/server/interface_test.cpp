// The server's answers to texts with markup, by both interfaces.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/extras/server/table_server.h"
#include "tests/model/file/scratch_file.h"

namespace dragoman {

namespace {

using nlohmann::json;

std::string translated(TableServer& table, const json& more) {
  json body = {{"source", "en"}, {"target", "de"}, {"format", "html"}};
  body.update(more);
  const HttpResponse response = table.post("/translate", body);
  EXPECT_EQ(response.status, 200) << response.body;
  return response.status == 200 ? json_of(response).at("translatedText") : "";
}

json deepl(const json& more) {
  json body = {{"source_lang", "EN"}, {"target_lang", "DE"}, {"tag_handling", "xml"}};
  body.update(more);
  return body;
}

std::string deepl_text(TableServer& table, const json& more) {
  const HttpResponse response = table.post("/v2/translate", deepl(more));
  EXPECT_EQ(response.status, 200) << response.body;
  return response.status == 200 ? json_of(response).at("translations")[0].at("text") : "";
}

TEST(ServedMarkup, HtmlKeepsItsTags) {
  TableServer table({"en-de"});
  const std::string html =
      "<div id=1>\n <p>one <b>two</b> three<br>one</p><img alt='two'>\n<code>Four</code></div>";
  EXPECT_EQ(translated(table, {{"q", html}}), html);
  EXPECT_EQ(translated(table, {{"q", "<p>one &lt; two"}}), "<p>one &lt; two");
  EXPECT_EQ(translated(table, {{"q", "one two\nthree"}}), "one two\nthree");
}

TEST(ServedMarkup, TextAndTagsGoThroughTheLanguageBetween) {
  TableServer table({"en-fr", "fr-de"});
  EXPECT_EQ(translated(table, {{"q", "<p>one <b>two</b> three</p>"}}),
            "<p>one <b>two</b> three</p>");
}

TEST(ServedMarkup, AlternativesHaveTheTags) {
  TableServer table({"en-de"});
  const HttpResponse response = table.post("/translate", {{"q", "<p>one <b>two</b></p>"},
                                                          {"source", "en"},
                                                          {"target", "de"},
                                                          {"format", "html"},
                                                          {"alternatives", 1}});
  ASSERT_EQ(response.status, 200) << response.body;
  const json alternatives = json_of(response).at("alternatives");
  ASSERT_EQ(alternatives.size(), 1u);
  const std::string other = alternatives[0];
  EXPECT_TRUE(other.starts_with("<p>") && other.ends_with("</p>")) << other;
  EXPECT_NE(other.find("<b>"), std::string::npos) << other;
}

TEST(ServedMarkup, AnElementWithoutAWordOfTheTranslationIsTranslatedByItself) {
  for (const std::vector<std::string>& pairs :
       {std::vector<std::string>{"en-de"}, {"en-fr", "fr-de"}}) {
    TableServer table({});
    table.decode.max_length = 2;  // a word, and the end
    for (const std::string& pair : pairs) table.add(pair);
    EXPECT_EQ(translated(table, {{"q", "<p>one <b>two</b> three <i><u>three</u></i></p>"}}),
              "<p>one <b>two</b> <i><u>three</u></i></p>");
    const json words = {{"q", "<p>one <b>two</b></p>"}, {"alignment", true}, {"word_scores", true}};
    EXPECT_EQ(translated(table, words), "<p>one <b>two</b></p>");
    const json texts = {"<p>one <b>two</b></p>", "three", "<b>one</b> <i>two</i>"};
    const HttpResponse response = table.post(
        "/translate", {{"q", texts}, {"source", "en"}, {"target", "de"}, {"format", "html"}});
    EXPECT_EQ(json_of(response).at("translatedText"), texts);
  }
}

TEST(ServedMarkup, ATextInTheTargetLanguageComesBackByteForByte) {
  TableServer table({"en-de"});
  const std::string html = "<p >one<b> two</b>&excl;";
  EXPECT_EQ(translated(table, {{"q", html}, {"source", "de"}}), html);
}

TEST(ServedMarkup, XmlIsSplitAsTheRequestSays) {
  TableServer table({"en-de"});
  EXPECT_EQ(deepl_text(table, {{"text", "<d>one <x>two</x> three</d>"}}),
            "<d>one <x>two</x> three</d>");
  const std::string ignored = "one <x>zwei  <y>drei</y></x> two";
  EXPECT_EQ(deepl_text(table, {{"text", ignored}, {"ignore_tags", "y, x"}}), ignored);
  EXPECT_EQ(deepl_text(table, {{"text", ignored}, {"ignore_tags", {"x"}}}), ignored);
  // A line end is kept if it splits, and is white space if it does not.
  const std::string lines = "<p>one\ntwo</p>";
  EXPECT_EQ(deepl_text(table, {{"text", lines}}), lines);
  EXPECT_EQ(deepl_text(table, {{"text", lines}, {"split_sentences", "nonewlines"}}),
            "<p>one two</p>");
  EXPECT_EQ(deepl_text(table, {{"text", lines}, {"tag_handling", "html"}}), "<p>one two</p>");
}

TEST(ServedMarkup, MarkupThatCannotBeReadIsRefusedAsTheInterfaceSaysIt) {
  TableServer table({"en-de"});
  std::string deep;
  for (int i = 0; i < 19'000; ++i) deep += "<div>";
  const HttpResponse refused = table.post(
      "/translate", {{"q", deep}, {"source", "en"}, {"target", "de"}, {"format", "html"}});
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(json_of(refused).at("error"),
              testing::StartsWith("Invalid request: q parameter: html: "));
  EXPECT_THAT(
      json_of(table.post("/v2/translate", deepl({{"text", deep}, {"tag_handling", "html"}})))
          .at("message"),
      testing::StartsWith("Tag handling parsing failed, please check input: html: "));
}

TEST(ServedMarkup, AnotherThreadReadsALargeDocument) {
  TableServer table({"en-de"});
  std::thread::id answering;  // the thread that finds a fault answers
  table.server = std::make_unique<TranslationServer>(
      table.models, ServerConfig(),
      [&](const AnsweredRequest&) { answering = std::this_thread::get_id(); });
  const auto thread_of = [&](const std::string& path, const json& body, int status) {
    EXPECT_EQ(table.post(path, body).status, status);
    return answering;
  };
  const auto thread_of_fault = [&](int words) {
    std::string text = "<a>";
    for (int i = 0; i < words; ++i) text += "one ";
    return thread_of("/v2/translate", deepl({{"text", text}}), 400);
  };
  const std::thread::id of_requests = thread_of("/detect", {{"q", "one"}}, 200);
  EXPECT_EQ(thread_of_fault(10), of_requests);
  EXPECT_NE(thread_of_fault(5'000), of_requests);
}

TEST(ServedMarkup, ALargeDocumentIsTranslatedToo) {
  TableServer table({"en-fr", "fr-de"});
  std::string html;
  for (int i = 0; i < 500; ++i) html += "<p>one <b>two</b> three</p>\n";
  EXPECT_EQ(translated(table, {{"q", html}}), html);
}

TEST(ServedMarkup, TheCharactersOfTextAloneAreBilled) {
  const ScratchFile file("keys.txt", "alpha 10\n");
  TableServer table({"en-de"}, {.api_keys = std::make_shared<ApiKeys>(file.path())});
  const auto ask = [&](const json& more) {
    HttpRequest request = TableServer::request_of("/v2/translate", deepl(more));
    request.headers["authorization"] = "DeepL-Auth-Key alpha";
    return table.ask(request);
  };
  EXPECT_EQ(ask({{"text", "<a>one two three"}}).status, 400);  // costs nothing
  const HttpResponse answer =
      ask({{"text", "<a long='attribute'>one two</a>"}, {"show_billed_characters", true}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer).at("translations")[0].at("billed_characters"), 7);
  EXPECT_EQ(ask({{"text", "<a>one two</a>"}}).status, 456);
}

TEST(ServedMarkup, TheLanguageIsThatOfTheText) {
  TableServer table({"en-de", "fr-de"});
  const std::string english_tags = "<the-men-are-playing-in-the-park class='the women and men'>";
  const HttpResponse answer =
      table.post("/v2/translate", {{"text", english_tags + "Les hommes jouent dans le parc."},
                                   {"target_lang", "DE"},
                                   {"tag_handling", "html"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer).at("translations")[0].at("detected_source_language"), "FR");
}

}  // namespace

}  // namespace dragoman
