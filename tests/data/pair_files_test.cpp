#include "data/pair_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <fstream>
#include <thread>

#include "base/error.h"
#include "tests/base/gzipped.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Pairs = std::vector<std::pair<std::string, std::string>>;

class PairFilesTest : public FolderTest {
 protected:
  /// The pairs of the file; `facts` are kept.
  Pairs read(const std::string& path, const PairFileOptions& options = {}) {
    Pairs pairs;
    facts = read_pair_file(
        path, options,
        [&pairs](std::string_view source, std::string_view target) {
          pairs.emplace_back(source, target);
        },
        [](std::int64_t) {});
    return pairs;
  }
  std::string fault(const std::string& path, const PairFileOptions& options = {}) {
    return message_of<Error>([&] { read(path, options); });
  }

  PairFileFacts facts;
};

/// A memory in which each unit stands on a line of its own, from line 4 on.
std::string tmx(std::initializer_list<std::string> units, const std::string& header = "en") {
  std::string text = "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\"><header srclang=\"" + header +
                     "\"/>\n<body>\n";
  for (const std::string& unit : units) text += unit + "\n";
  return text + "</body></tmx>\n";
}

std::string unit(const std::string& english, const std::string& german) {
  return "<tu><tuv xml:lang=\"en-GB\"><seg>" + english + "</seg></tuv><tuv xml:lang=\"de\"><seg>" +
         german + "</seg></tuv></tu>";
}

TEST_F(PairFilesTest, AFirstLineThatLooksLikeAHeaderIsRemarkedOn) {
  for (const char* header : {"source\ttarget\tnote", "Src\ttrg", "en\tde"}) {
    const std::string path = write("a.tsv", header + std::string("\none\teins\tx\n"));
    EXPECT_EQ(read(path).size(), 2u) << header;
    EXPECT_THAT(facts.remark, Names("line 1 ... --columns")) << header;
  }
  EXPECT_THAT(read(write("a.tsv", "source\ttarget\none\teins\n"), {"", "", {"source", "target"}}),
              ElementsAre(Pair("one", "eins")));
  EXPECT_EQ(facts.remark, "");
  read(write("a.tsv", "the source\tdas Ziel\nno\tnein\n"));
  EXPECT_EQ(facts.remark, "");
}

TEST_F(PairFilesTest, FieldsInQuotationMarksAreRemarkedOn) {
  std::string quoted;
  for (int i = 0; i < 12; ++i) quoted += "\"one\"\t\"eins\"\n";
  EXPECT_THAT(read(write("a.tsv", quoted))[0], Pair("\"one\"", "\"eins\""));
  EXPECT_THAT(facts.remark, Names("quotation marks ... text"));
  read(write("a.tsv", "\"Hm\"\t\"Hm\"\n" + std::string("x\ty\n") + quoted));
  EXPECT_EQ(facts.remark, "");
}

TEST_F(PairFilesTest, AMemoryGivesTheTextOfItsUnitsWithoutInlineCodes) {
  const std::string path = write(
      "memory.tmx",
      tmx({unit("one", "eins"), unit("<bpt i=\"1\">&lt;b&gt;</bpt>two<ept i=\"1\">&lt;/b&gt;</ept> "
                                     "&amp; <ph>x<sub>y</sub></ph>more",
                                     "<hi>zwei</hi> &amp;\n   mehr")}));
  EXPECT_THAT(read(path), ElementsAre(Pair("one", "eins"), Pair("two & more", "zwei & mehr")));
  EXPECT_EQ(facts.languages.name(), "en-de");
  EXPECT_EQ(facts.left_out, 0);
}

TEST_F(PairFilesTest, TheLanguagesOfAMemoryCanBeChosen) {
  const std::string path =
      write("memory.tmx", tmx({"<tu><tuv xml:lang=\"EN_US\"><seg>colour</seg></tuv><tuv "
                               "xml:lang=\"fr\"><seg>couleur</seg>"
                               "</tuv><tuv lang=\"de\"><seg>Farbe</seg></tuv></tu>"},
                              "*all*"));
  EXPECT_THAT(fault(path),
              Names("memory.tmx:4 ... EN_US, fr, de ... --source-lang ... --target-lang"));
  EXPECT_THAT(read(path, {"fr", "en", {}}), ElementsAre(Pair("couleur", "colour")));
  EXPECT_THAT(fault(path, {"fr", "it", {}}), "");
  EXPECT_EQ(facts.left_out, 1);
  EXPECT_THAT(facts.first_left_out, Names("line 4 ... it"));
}

TEST_F(PairFilesTest, ABrokenUnitIsLeftOutAndTheNextOneIsRead) {
  for (const std::string broken :
       {"<tu><tuv xml:lang=\"en\"><seg>a & b</seg></tuv></tu>",
        "<tu><tuv xml:lang=\"en\"><seg>a<b</seg>", "<tu><tuv xml:lang=\"en\"></seg></tuv></tu>",
        "<tu><tuv xml:lang=\"en\"><seg>\x01</seg></tuv></tu>"}) {
    const std::string path =
        write("memory.tmx",
              tmx({unit("one", "eins"), broken, unit("two", "zwei"), unit("three", "drei")}));
    EXPECT_THAT(read(path),
                ElementsAre(Pair("one", "eins"), Pair("two", "zwei"), Pair("three", "drei")))
        << broken;
    EXPECT_EQ(facts.left_out, 1) << broken;
    EXPECT_THAT(facts.first_left_out, testing::StartsWith("line 5: ")) << broken;
  }
}

TEST_F(PairFilesTest, AFaultIsFoundWhereverTheFileIsCut) {
  std::string text = "<tmx><header srclang=\"en\"/><body>\n";
  Pairs expected;
  for (int i = 0; i < 20'000; ++i) {
    const std::string number = std::to_string(i);
    text += unit("n" + number, "N" + number) + "\n";
    expected.emplace_back("n" + number, "N" + number);
    if (i % 997 == 5) text += "<tu><tuv xml:lang=\"en\"><seg>a & b</seg></tuv></tu>\n";
  }
  EXPECT_EQ(read(write("memory.tmx", text + "</body></tmx>")), expected);
  EXPECT_EQ(facts.left_out, 21);
  EXPECT_EQ(read(write("cut.tmx", text)), expected) << "the end is missing";
}

TEST_F(PairFilesTest, Utf16IsReadAsItIsDeclared) {
  std::string wide = "\xFF\xFE";
  for (const char c :
       "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" + tmx({unit("one", "eins")}).substr(22))
    (wide += c) += '\0';
  EXPECT_THAT(read(write("memory.tmx", wide)), ElementsAre(Pair("one", "eins")));
}

TEST_F(PairFilesTest, FinishedTranslationsOfXliffAreRead) {
  const std::string first = write(
      "a.xlf",
      "<xliff version=\"1.2\"><file source-language=\"en\" target-language=\"de\"><body>\n"
      "<trans-unit id=\"1\"><source>one <g id=\"1\">two</g><x id=\"2\"/></source>"
      "<seg-source><mrk>other</mrk></seg-source><target state=\"translated\">eins <g "
      "id=\"1\">zwei</g>"
      "</target><alt-trans><source>x</source><target>y</target></alt-trans></trans-unit>\n"
      "<trans-unit id=\"2\"><source>three</source><target state=\"needs-translation\">drei</target>"
      "</trans-unit>\n"
      "<trans-unit id=\"3\"><source>four</source></trans-unit>\n</body></file></xliff>");
  EXPECT_THAT(read(first), ElementsAre(Pair("one two", "eins zwei")));
  EXPECT_EQ(facts.languages.name(), "en-de");
  EXPECT_EQ(facts.left_out, 2);
  EXPECT_THAT(facts.first_left_out, Names("line 3 ... translation"));
  EXPECT_THAT(read(first, {"de", "en", {}}), ElementsAre(Pair("eins zwei", "one two")));
  EXPECT_THAT(fault(first, {"fr", "en", {}}), Names("a.xlf ... en ... de ... --source-lang"));

  const std::string second = write(
      "b.xlf",
      "<xliff version=\"2.0\" srcLang=\"en\" trgLang=\"de\"><file><unit>"
      "<segment state=\"final\"><source>one<ph id=\"1\"/></source><target>eins</target></segment>"
      "<segment state=\"initial\"><source>two</source><target>two</target></segment>"
      "</unit></file></xliff>");
  EXPECT_THAT(read(second), ElementsAre(Pair("one", "eins")));
}

constexpr std::string_view kPoHeader =
    "# German translation\n\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n"
    "\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n";

TEST_F(PairFilesTest, FinishedMessagesOfACatalogueAreRead) {
  const std::string path =
      write("a.po", std::string(kPoHeader) +
                        "#. a comment\n#: file.c:1\nmsgctxt \"menu\"\nmsgid \"\"\n\"one \"\n"
                        "\"\\\"more\\\"\\n\"\nmsgstr \"eins \" \"\\\"mehr\\\"\\n\"\n\n"
                        "#, fuzzy, c-format\n#| msgid \"old\"\nmsgid \"two\"\nmsgstr \"zwei\"\n\n"
                        "msgid \"three\"\nmsgstr \"\"\n\n"
                        "msgid \"a file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"eine Datei\"\n"
                        "msgstr[1] \"%d Dateien\"\n\n#~ msgid \"gone\"\n#~ msgstr \"fort\"\n"
                        "msgid \"last\" msgstr \"letzte\"");
  const auto expected = [&] {
    return ElementsAre(Pair("one \"more\"", "eins \"mehr\""), Pair("a file", "eine Datei"),
                       Pair("%d files", "%d Dateien"), Pair("last", "letzte"));
  };
  EXPECT_THAT(read(path), expected());
  EXPECT_EQ(facts.left_out, 2);
  EXPECT_THAT(facts.first_left_out, Names("line 18 ... fuzzy"));
  EXPECT_EQ(facts.languages, (LanguagePair{"", "de"}));
  EXPECT_THAT(read(path, {"en", "de", {}}), expected());
  EXPECT_THAT(read(path, {"de", "en", {}}), testing::Contains(Pair("letzte", "last")));
  EXPECT_THAT(fault(path, {"en", "fr", {}}), Names("a.po ... to de ... to fr ... --target-lang"));
}

TEST_F(PairFilesTest, ALanguageWithAVariantIsFoundByItsCode) {
  for (const std::string code : {"ca@valencia", "ca_ES", "ca"}) {
    const std::string path =
        write("a.po", "msgid \"\"\nmsgstr \"\"\n\"Language: " + code +
                          "\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\n"
                          "msgid \"one\"\nmsgstr \"un\"\n");
    EXPECT_THAT(read(path, {"en", "ca", {}}), ElementsAre(Pair("one", "un"))) << code;
  }
}

TEST_F(PairFilesTest, ABrokenMessageIsLeftOutAndTheNextOneIsRead) {
  for (const std::string broken :
       {"msgid \"open\nmsgstr \"offen\"\n", "msgid \"a\"\nmsgstr \"b\"\nmsgwhat \"c\"\n",
        "msgid \"a\" b\nmsgstr \"b\"\n"}) {
    const std::string path =
        write("a.po", std::string(kPoHeader) + "msgid \"one\"\nmsgstr \"eins\"\n" + broken +
                          "msgid \"two\"\nmsgstr \"zwei\"\n");
    EXPECT_THAT(read(path), ElementsAre(Pair("one", "eins"), Pair("two", "zwei"))) << broken;
    EXPECT_EQ(facts.left_out, 1) << broken;
    EXPECT_THAT(facts.first_left_out, testing::StartsWith("line 10: ")) << broken;
  }
}

TEST_F(PairFilesTest, ACatalogueInAnotherEncodingIsRefused) {
  EXPECT_THAT(fault(write("a.po",
                          "msgid \"\"\nmsgstr \"Language: de\\n"
                          "Content-Type: text/plain; charset=ISO-8859-1\\n\"\n")),
              Names("a.po ... iso-8859-1 ... msgconv"));
  EXPECT_THAT(read(write("a.tsv", "# one\teins\nmsgid\tx\n")),
              ElementsAre(Pair("# one", "eins"), Pair("msgid", "x")))
      << "a table";
}

TEST_F(PairFilesTest, OtherXmlIsNamed) {
  EXPECT_THAT(fault(write("a.xml", "<html><body/></html>")),
              Names("a.xml ... TMX ... XLIFF ... html"));
  EXPECT_THAT(fault(write("b.xml", "<tmx")), Names("b.xml:1"));
  EXPECT_THAT(fault(write("c.xml", "")), Names("c.xml ... empty"));
}

TEST_F(PairFilesTest, ColumnsAreTakenByNumberOrByName) {
  const std::string path = write("a.tsv", "id\ten\tde\n1\tone\teins\r\n2\ttwo\n3\t\"three\"\tdrei");
  EXPECT_THAT(read(path, {"", "", {"en", "de"}}),
              ElementsAre(Pair("one", "eins"), Pair("\"three\"", "drei")));
  EXPECT_EQ(facts.first_left_out, "line 3: 2 columns");
  EXPECT_THAT(read(path, {"", "", {"3", "1"}}),
              ElementsAre(Pair("de", "id"), Pair("eins", "1"), Pair("drei", "3")));
  EXPECT_THAT(read(write("b.tsv", "one\teins\n")), ElementsAre(Pair("one", "eins")));
  EXPECT_THAT(fault(path, {"", "", {"en", "fr"}}), Names("a.tsv:1 ... fr"));
  EXPECT_THAT(fault(path, {"", "", {"0", "1"}}), Names("a.tsv ... column 0 ... --columns"));
  EXPECT_THAT(fault(write("c.txt", "one\ntwo\n")), Names("c.txt:1 ... one column ... each side"));
}

TEST_F(PairFilesTest, FieldsOfJsonLinesAreTaken) {
  EXPECT_THAT(
      read(write(
          "a.jsonl",
          "{\"source\": \"one\", \"target\": \"eins\\nzwei\"}\n\n{\"source\": 1, \"target\": 2}\n"
          "{broken\n{\"src\": \"x\", \"tgt\": \"y\"}\n")),
      ElementsAre(Pair("one", "eins zwei"), Pair("x", "y")));
  EXPECT_EQ(facts.left_out, 2);
  EXPECT_THAT(facts.first_left_out, Names("line 3 ... text"));
  EXPECT_THAT(read(write("b.jsonl", "{\"translation\": {\"en\": \"one\", \"de\": \"eins\"}}\n"),
                   {"de", "en", {}}),
              ElementsAre(Pair("eins", "one")));
  EXPECT_THAT(read(write("c.jsonl", "{\"a\": \"one\", \"b\": \"eins\"}\n"), {"", "", {"a", "b"}}),
              ElementsAre(Pair("one", "eins")));
}

TEST_F(PairFilesTest, AnArchiveOfOpusGivesItsTwoFiles) {
  const std::string path = (folder / "books.zip").string();
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  const auto add = [archive](const char* name, std::string_view text) {
    zip_file_add(archive, name, zip_source_buffer(archive, text.data(), text.size(), 0), 0);
  };
  add("README", "about\n");
  add("Books.de-en.de", "eins\nzwei");
  add("Books.de-en.en", "one\r\ntwo\n");
  ASSERT_EQ(zip_close(archive), 0);
  EXPECT_THAT(read(path), ElementsAre(Pair("eins", "one"), Pair("zwei", "two")));
  EXPECT_EQ(facts.languages.name(), "de-en");
  EXPECT_THAT(read(path, {"en", "de", {}}), ElementsAre(Pair("one", "eins"), Pair("two", "zwei")));
  EXPECT_THAT(fault(path, {"fr", "en", {}}), Names("books.zip ... NAME.en-de.en"));
}

TEST_F(PairFilesTest, CompressedFilesAndPipesAreRead) {
  const std::string packed = write("a.tsv.gz", kGzipped);  // one column
  EXPECT_THAT(fault(packed), Names("a.tsv.gz:1 ... one column"));
  EXPECT_THAT(fault(packed), testing::Not(HasSubstr("--train-src"))) << "a flag of train alone";
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&pipe] { std::ofstream(pipe) << "one\teins\n"; });
  const PlainTexts texts = plain_texts_of(pipe, {}, folder / "cache", [](std::int64_t) {});
  writer.join();
  EXPECT_EQ(read_file(texts.source), "one\n");
  EXPECT_EQ(read_file(texts.target), "eins\n");
  const PlainTexts again = plain_texts_of(pipe, {}, folder / "cache", [](std::int64_t) {});
  EXPECT_EQ(again.source, texts.source) << "it waits for no other writer";
}

TEST_F(PairFilesTest, PlainTextsAreMadeOnceForEachStateOfAFile) {
  const std::string path = write("a.tsv", "one\teins\ntwo\n");
  const auto texts = [&](const PairFileOptions& options = {}) {
    return plain_texts_of(path, options, folder / "cache", [](std::int64_t) {});
  };
  const PlainTexts first = texts();
  EXPECT_THAT(first.summary, Names(path + " ... 1 pair ... 1 left out ... line 2"));
  write_file(first.target, "changed\n");
  EXPECT_EQ(texts().target, first.target);
  EXPECT_EQ(read_file(first.target), "changed\n") << "it was not made again";
  std::filesystem::remove(first.target);
  EXPECT_EQ(read_file(texts().target), "eins\n") << "somebody has removed it";
  EXPECT_NE(texts({"", "", {"2", "1"}}).source, first.source);
  write("a.tsv", "three\tdrei\n");
  EXPECT_EQ(read_file(texts().target), "drei\n");
  write("a.tsv", "three\n");
  EXPECT_THAT(message_of<Error>([&] { texts(); }), Names("a.tsv:1 ... one column"));
}

TEST_F(PairFilesTest, TheLanguagesOfAFileAreKeptWithItsTexts) {
  const std::string path = write("memory.tmx", tmx({unit("one", "eins")}, "EN_us"));
  for (const char* when : {"made", "found"}) {
    const PlainTexts texts =
        plain_texts_of(path, {"EN_gb", "DE", {}}, folder / "cache", [](std::int64_t) {});
    EXPECT_EQ(texts.languages, (LanguagePair{"en-GB", "de"})) << when;
    EXPECT_EQ(texts.summary, path + ": 1 pair (EN_gb to DE)") << when;
  }
}

TEST_F(PairFilesTest, AReportMayStopTheReading) {
  const std::string path = write("a.tsv", "one\teins\n");
  struct Stop {};
  EXPECT_THROW(read_pair_file(
                   path, {}, [](auto, auto) {}, [](std::int64_t) { throw Stop(); }),
               Stop);
  EXPECT_THROW(plain_texts_of(path, {}, folder / "cache", [](std::int64_t) { throw Stop(); }),
               Stop);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "cache"));
}

}  // namespace
}  // namespace dragoman
