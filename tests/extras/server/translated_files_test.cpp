// Files that are translated as a whole: kept for a while, and as a client of LibreTranslate sees
// them.
#include "extras/server/translated_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/extras/server/table_server.h"

namespace dragoman {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::MatchesRegex;

TEST(TranslatedFiles, AFileIsFoundUnderItsNameUntilItIsTooOld) {
  TranslatedFiles files({.bytes = 10'000, .age = seconds(60)});
  const TranslatedFiles::Time begin{};
  const std::string name = files.keep({"a_de.txt", "text"}, begin);
  EXPECT_THAT(name, MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                                 "[0-9a-f]{12}\\.a_de\\.txt"));
  EXPECT_NE(files.keep({"a_de.txt", "text"}, begin), name);
  EXPECT_EQ(files.find(name, begin + seconds(59)).value().text, "text");
  EXPECT_FALSE(files.find("a_de.txt", begin));
  EXPECT_FALSE(files.find(name, begin + seconds(60)));
}

TEST(TranslatedFiles, TheOldestMakeRoom) {
  TranslatedFiles files({.bytes = 100'000, .age = seconds(60)});
  const TranslatedFiles::Time begin{};
  const std::string first = files.keep({"a", std::string(60'000, 'a')}, begin);
  const std::string second = files.keep({"b", std::string(38'000, 'b')}, begin);
  EXPECT_TRUE(files.find(first, begin));
  const std::string third = files.keep({"c", std::string(20'000, 'c')}, begin);
  EXPECT_FALSE(files.find(first, begin));
  EXPECT_TRUE(files.find(second, begin) && files.find(third, begin));
  EXPECT_TRUE(files.find(files.keep({"d", std::string(200'000, 'd')}, begin), begin))
      << "a file alone may be larger";
}

TEST(TranslatedFiles, EachFileTakesRoomForItselfHoweverSmallItIs) {
  TranslatedFiles files({.bytes = 100'000, .age = seconds(60)});
  const TranslatedFiles::Time begin{};
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i)
    names.push_back(files.keep({std::string(100, 'n'), "1"}, begin + seconds(i > 500)));
  std::size_t found = 0;
  for (const std::string& name : names) found += files.find(name, begin + seconds(1)).has_value();
  EXPECT_GT(found, 50u);
  EXPECT_LT(found, 200u);
  EXPECT_TRUE(files.find(names.back(), begin + seconds(60)));
  EXPECT_FALSE(files.find(names.back(), begin + seconds(61)));
}

TEST(TranslatedFiles, AFileMayTakeThePlaceOfAnotherAndIsThenNew) {
  TranslatedFiles files({.bytes = 100'000, .age = seconds(60)});
  const TranslatedFiles::Time begin{};
  files.keep("first", {"a", "waits"}, begin);
  files.keep("second", {"b", std::string(50'000, 'b')}, begin + seconds(1));
  files.replace("first", {"a", std::string(70'000, 'a')}, begin + seconds(2));
  EXPECT_FALSE(files.find("second", begin)) << "it is the oldest now";
  EXPECT_EQ(files.find("first", begin + seconds(61)).value().text.size(), 70'000u);
  files.replace("second", {"b", "b"}, begin);
  EXPECT_FALSE(files.find("second", begin));
  files.remove("first");
  files.remove("first");
  EXPECT_FALSE(files.find("first", begin));
}

TEST(TranslatedFiles, NamesOfFilesAreMadeHarmless) {
  EXPECT_EQ(safe_file_name("letter.txt"), "letter.txt");
  EXPECT_EQ(safe_file_name("../../etc/passwd"), "passwd");
  EXPECT_EQ(safe_file_name("C:\\a\\b c\"\r\n.txt"), "b_c_.txt");
  EXPECT_EQ(safe_file_name("..."), "file");
  EXPECT_EQ(safe_file_name("\u0434\u043E\u043A.html"), "file.html") << "the ending stays";
  EXPECT_EQ(safe_file_name("a.\u0434\u043E\u043A"), "a");
  EXPECT_EQ(safe_file_name(".txt"), "file.txt");
  EXPECT_EQ(safe_file_name(""), "file");
  EXPECT_EQ(safe_file_name(std::string(300, 'a') + ".txt"), std::string(96, 'a') + ".txt");
}

HttpRequest upload(const std::string& name, const std::string& text,
                   const std::string& target = "de") {
  return {
      .method = "POST",
      .path = "/translate_file",
      .headers = {{"content-type", "multipart/form-data; boundary=b"}, {"host", "mt.example:5000"}},
      .body = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name +
              "\"\r\nContent-Type: text/plain\r\n\r\n" + text +
              "\r\n--b\r\nContent-Disposition: form-data; name=source\r\n\r\nen\r\n"
              "--b\r\nContent-Disposition: form-data; name=target\r\n\r\n" +
              target + "\r\n--b--\r\n"};
}

TEST(TranslateFile, TheAddressOfAFileBeginsAsThePublicOneDoes) {
  ServerConfig config;
  config.public_url = "https://mt.example.org/translate";
  TableServer table({"en-de"}, config);
  const std::string address = json_of(table.ask(upload("a.txt", "one"))).at("translatedFileUrl");
  EXPECT_TRUE(address.starts_with("https://mt.example.org/translate/download_file/")) << address;
}

TEST(TranslateFile, AFileOfMarkupKeepsTheCharsetThatItDeclares) {
  TableServer table({"en-de"});
  const std::string utf16("\xFF\xFE<\0a\0>\0o\0n\0e\0<\0/\0a\0>\0", 22);
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.html", "<meta charset=iso-8859-1><p class=\"\xE9\">one <b>two</b></p>"},
      {"a.xml", "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><a b=\"\x93\xFA\">one</a>"},
      {"b.xml", utf16}};
  for (const auto& [name, bytes] : files)
    for (const char* target : {"de", "en"}) {
      const HttpResponse made = table.ask(upload(name, bytes, target));
      ASSERT_EQ(made.status, 200) << made.body;
      const std::string url = json_of(made).at("translatedFileUrl");
      const HttpResponse file = table.get(url.substr(url.find("/download_file")));
      EXPECT_EQ(file.body, bytes) << name << target;
      EXPECT_EQ(file.type, name == "a.html" ? "text/html" : "application/xml");
    }
  for (const std::string unread :
       {"<meta charset=no-such-charset>\xE9", "<meta charset=shift_jis>\x93"}) {
    const HttpResponse refused = table.ask(upload("a.html", unread));
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, testing::HasSubstr("'a.html'"));
  }
}

TEST(TranslateFile, ATranslatedFileIsFetchedByItsAddress) {
  TableServer table({"en-de"});
  const std::string text = "\uFEFFone two\r\n\r\nthree\r\n";
  const HttpResponse response = table.ask(upload("my letter.txt", text));
  ASSERT_EQ(response.status, 200) << response.body;
  const std::string address = json_of(response).at("translatedFileUrl");
  const std::string root = "http://mt.example:5000";
  ASSERT_TRUE(address.starts_with(root + "/download_file/")) << address;
  const HttpResponse file = table.get(address.substr(root.size()));
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, text);
  EXPECT_EQ(header_of(file, "Content-Disposition"), "attachment; filename=\"my_letter_de.txt\"");
  EXPECT_EQ(table.answered().front().characters, 18);
  EXPECT_EQ(table.get("/download_file/" + address.substr(address.size() - 10)).status, 404);
  EXPECT_EQ(table.get("/download_file/").status, 404);
  for (const AnsweredRequest& answered : table.answered())
    EXPECT_LE(answered.path.size(), std::string("/download_file/01234567...").size())
        << "the log holds no address by which anyone could fetch a file";
  const auto settings = json_of(table.get("/frontend/settings"));
  EXPECT_EQ(settings["filesTranslation"], true);
  EXPECT_EQ(settings["supportedFilesFormat"][0], ".txt");
}

TEST(TranslateFile, TheAnswerNamesTheLanguageBetweenTwo) {
  TableServer table({"en-fr", "fr-de"});
  EXPECT_EQ(json_of(table.ask(upload("a.txt", "one")))["pivotLanguage"], "fr");
  EXPECT_FALSE(json_of(table.ask(upload("a.txt", "one", "fr"))).contains("pivotLanguage"));
}

TEST(TranslateFile, TwoFilesAreRefused) {
  TableServer table({"en-de"});
  HttpRequest request = upload("a.txt", "one");
  request.body.insert(0,
                      "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.txt\""
                      "\r\n\r\ntwo\r\n");
  const HttpResponse response = table.ask(request);
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(json_of(response).at("error"),
            "Invalid request: file parameter is given more than once");
}

TEST(TranslateFile, AFilesNameHasTheServersCode) {
  TableServer table({"en-pt-BR"});
  const HttpResponse response = table.ask(upload("a.txt", "one", "PB"));
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(response.body, HasSubstr("a_pt-BR.txt"));
}

/// The file that comes back.
HttpResponse fetched(TableServer& table, const std::string& name, const std::string& text) {
  const HttpResponse response = table.ask(upload(name, text));
  EXPECT_EQ(response.status, 200) << response.body;
  if (response.status != 200) return response;
  const std::string address = json_of(response).at("translatedFileUrl");
  return table.get(address.substr(std::string("http://mt.example:5000").size()));
}

TEST(TranslateFile, FilesWithMarkupKeepIt) {
  TableServer table({"en-de"});
  const std::string html = "\uFEFF<p class='unknown'>one <b>two</b></p>\n<script>x</script>";
  HttpResponse file = fetched(table, "a.HTML", html);
  EXPECT_EQ(file.body, html);
  EXPECT_EQ(file.type, "text/html; charset=utf-8");
  EXPECT_THAT(header_of(file, "Content-Disposition"), testing::StartsWith("attachment"));
  EXPECT_EQ(fetched(table, "a.htm", "<p class=x>one &lt; two").body, "<p class=x>one &lt; two");
  file = fetched(table, "a.xml", "<?xml version=\"1.0\"?>\n<d><x id='1'>one</x> two</d>\n");
  EXPECT_EQ(file.body, "<?xml version=\"1.0\"?>\n<d><x id='1'>one</x> two</d>\n");
  EXPECT_EQ(file.type, "application/xml; charset=utf-8");
  file = fetched(table, "a.srt", "1\n00:00:01,000 --> 00:00:02,000\none two\n");
  EXPECT_EQ(file.body, "1\n00:00:01,000 --> 00:00:02,000\none two\n");
  EXPECT_EQ(file.type, "application/x-subrip; charset=utf-8");
  file = fetched(table, "a.xliff",
                 "<xliff version='1.2'><trans-unit><source>one</source></trans-unit></xliff>");
  EXPECT_THAT(file.body, testing::HasSubstr(">one</target></trans-unit>"));
  EXPECT_EQ(file.type, "application/xliff+xml; charset=utf-8");
  EXPECT_EQ(fetched(table, "a.pot", "msgid \"one\"\nmsgstr \"\"\n").body,
            "msgid \"one\"\nmsgstr \"one\"\n");
  file = fetched(table, "a.po", "msgid \"one two\"\nmsgstr \"\"\n");
  EXPECT_EQ(file.body, "msgid \"one two\"\nmsgstr \"one two\"\n");
  EXPECT_EQ(file.type, "text/x-gettext-translation; charset=utf-8");
  file = fetched(table, "a.md", "# one\n\n- `x` *two*\n");
  EXPECT_EQ(file.body, "# one\n\n- `x` *two*\n");
  EXPECT_EQ(file.type, "text/markdown; charset=utf-8");
  EXPECT_EQ(table.answered().front().characters, 7) << "of the text alone";
  EXPECT_EQ(fetched(table, "a.txt", "<p").type, "text/plain; charset=utf-8");
}

TEST(TranslateFile, ANameInOtherLettersKeepsItsKind) {
  TableServer table({"en-de"});
  const HttpResponse file = fetched(table, "\u0434\u043E\u043A.html", "<p>one</p>");
  EXPECT_EQ(file.type, "text/html; charset=utf-8");
  EXPECT_EQ(header_of(file, "Content-Disposition"), "attachment; filename=\"file_de.html\"");
}

TEST(TranslateFile, MarkupThatCannotBeReadIsRefused) {
  TableServer table({"en-de"});
  HttpResponse response = table.ask(upload("a.xml", "<a>one"));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(
      response.body,
      HasSubstr("Invalid request: the file 'a.xml': xml: line 1, column 7: an element is not"));
  response = table.ask(upload("b.po", "msgid one"));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("Invalid request: the file 'b.po': po: line 1: "));
  std::string deep;
  for (int i = 0; i < 19'000; ++i) deep += "<div>";
  response = table.ask(upload("a.html", deep));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("close its tags"));
}

TEST(TranslateFile, TheTextThatACatalogueIsFilledWithCounts) {
  TableServer table({"en-de"}, {.limits = {.characters = 200}});
  std::string po = "msgid \"" + std::string(100, 'x') + "\"\n";
  for (int i = 0; i < 3; ++i) po += "msgstr[" + std::to_string(i) + "] \"\"\n";
  ASSERT_LT(po.size(), 200u);
  const HttpResponse response = table.ask(upload("a.po", po));
  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.body, HasSubstr("more than 200 characters of text"));
}

TEST(TranslateFile, MarkupDoesNotCountForTheLimitOfCharacters) {
  TableServer table({"en-de"}, {.limits = {.characters = 20}});
  const std::string html = "<p class='a class with a long name'>one two three</p>";
  EXPECT_EQ(fetched(table, "a.html", html).body, html);
  EXPECT_EQ(table.ask(upload("a.html", "<p>one two three</p><p>one two one</p>")).status, 400);
  HttpRequest with_terms = upload("a.html", html);
  with_terms.query = {{"terms", std::string(21, 'x')}};
  const HttpResponse refused = table.ask(with_terms);
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr("(21 characters) exceeds text limit (20)"));
}

TEST(TranslateFile, AFileThatCannotBeTranslatedIsRefused) {
  TableServer table({"en-de"}, {.limits = {.characters = 20}});
  const auto fault = [&table](const HttpRequest& request) {
    const HttpResponse response = table.ask(request);
    EXPECT_EQ(response.status, 400);
    return json_of(response).at("error").get<std::string>();
  };
  EXPECT_THAT(fault(upload("a.exe", "one")), HasSubstr("format not supported"));
  EXPECT_THAT(fault(upload("txt", "one")), HasSubstr("format not supported"));
  EXPECT_THAT(fault(upload("a.txt", " \n")), HasSubstr("empty"));
  EXPECT_THAT(fault(upload("a.txt", "\xff\xfeo")), HasSubstr("a.txt"));
  EXPECT_THAT(fault(upload("a.txt", std::string(30, 'a'))), HasSubstr("text limit"));
  EXPECT_THAT(fault(upload("a.txt", "one", "xx")), HasSubstr("xx"));
  HttpRequest form = {.method = "POST", .path = "/translate_file", .body = "source=en&target=de"};
  EXPECT_THAT(fault(form), HasSubstr("missing file"));
}

}  // namespace
}  // namespace dragoman
