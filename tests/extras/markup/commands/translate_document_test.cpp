#include "extras/markup/commands/translate_document.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/inference/copying_model.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

MarkupDocument read(const std::string& text, const MarkupFiles& files) {
  const ScratchFile file("document", text);
  const int input = open(file.path().c_str(), O_RDONLY);
  try {
    MarkupDocument document = read_document(input, "page", files);
    close(input);
    return document;
  } catch (...) {
    close(input);
    throw;
  }
}

std::string error_of(const std::string& text, MarkupFormat markup) {
  return message_of<Error>([&] { read(text, {.markup = markup}); });
}

TEST(TranslateDocument, APageIsReadInTheCharsetThatItDeclares) {
  const std::string page = "<meta charset=latin1><p>caf\xE9";
  const MarkupDocument document = read(page, {.markup = MarkupFormat::Html});
  EXPECT_EQ(document.passages.at(0).text, "caf\u00E9");
  EXPECT_EQ(translated_document(document, std::vector<AlignedText>{{.text = "th\u00E9"}}).bytes,
            "<meta charset=latin1><p>th\xE9");
}

TEST(TranslateDocument, ADocumentOfManyPassagesIsWrittenWhole) {
  std::string html;
  for (int i = 0; i < 1'500; ++i) html += "<p>one <b>two</b> three\n<p>|</p>";
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const ScratchFile output("page.html");
  translate_document(read(html, {.markup = MarkupFormat::Html}), service,
                     {.config = {.beam_size = 1}}, output.path().string());
  EXPECT_EQ(read_file(output.path()), html);
}

TEST(TranslateDocument, AQueueThatIsFullIsWaitedFor) {
  std::string html;
  for (int i = 0; i < 1'500; ++i) html += "<p>one two\n";
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair(), {.limits = {.waiting = 100}});
  const ScratchFile output("page.html");
  translate_document(read(html, {.markup = MarkupFormat::Html}), service,
                     {.config = {.beam_size = 1}}, output.path().string());
  EXPECT_EQ(read_file(output.path()), html);
}

TEST(TranslateDocument, AnOutputThatCannotBeWrittenCostsNoTranslation) {
  class NoEngine : public CopyingEngine {
    void step(const StepRequest&) override { ADD_FAILURE() << "a translation has begun"; }
  } engine;
  TranslationService service({&engine}, tokenizer_pair());
  EXPECT_THROW(translate_document(read("<p>one", {.markup = MarkupFormat::Html}), service,
                                  {.config = {.beam_size = 1}}, "/proc/none/page.html"),
               Error);
}

TEST(TranslateDocument, TermsThatATranslationLacksAreNamedWithTheirLine) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const ScratchFile output("page.html");
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const Demands demands{.terms = Terms(Pairs{{"two", "three three three three three"}})};
  testing::internal::CaptureStderr();
  translate_document(read("<p>one\n<p>two", {.markup = MarkupFormat::Html}), service,
                     {.config = {.beam_size = 1, .max_length = 2},
                      .demands = std::make_shared<const Demands>(demands)},
                     output.path().string());
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              Names("line 2 ... 'three three three three three'"));
}

TEST(TranslateDocument, MessagesThatStayUntranslatedAreCounted) {
  CopyingEngine engine;
  TranslationService service({&engine}, tokenizer_pair());
  const ScratchFile output("messages.po");
  MarkupDocument document =
      read("#, c-format\nmsgid \"one %d\"\nmsgstr \"\"\n", {.markup = MarkupFormat::Po});
  const auto errors = [&] {
    testing::internal::CaptureStderr();
    translate_document(document, service, {.config = {.beam_size = 1}}, output.path().string());
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(errors(), testing::Not(testing::HasSubstr("untranslated")));
  ASSERT_EQ(document.checked.size(), 1u);
  document.checked[0].is_sound = [](std::string_view) { return false; };
  EXPECT_THAT(errors(), Names("1 message ... untranslated"));
  EXPECT_EQ(read_file(output.path()), "#, c-format\nmsgid \"one %d\"\nmsgstr \"\"\n");
}

TEST(TranslateDocument, ACatalogueInAnotherEncodingIsRefusedWithItsName) {
  EXPECT_THAT(error_of("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=ISO-8859-1\\n\"\n"
                       "msgid \"one\"\nmsgstr \"\xe4\"\n",
                       MarkupFormat::Po),
              testing::AllOf(Names("page ... UTF-8 ... byte"), Names("charset=ISO-8859-1"),
                             testing::HasSubstr("msgconv -t UTF-8")));
  EXPECT_THAT(error_of("# \xe4\n", MarkupFormat::Po), testing::Not(testing::HasSubstr("charset")));
}

TEST(TranslateDocument, NamesThatAreNeverPlainTextHaveAFormat) {
  for (const auto& [name, format] : {std::pair("page.html", MarkupFormat::Html),
                                     {"a.b/PAGE.HTM", MarkupFormat::Html},
                                     {"x.xml", MarkupFormat::Xml},
                                     {"x.xlf", MarkupFormat::Xml},
                                     {"memory.tmx", MarkupFormat::Xml},
                                     {"a.b/page.html.gz", MarkupFormat::Html},
                                     {"x.en.gz", MarkupFormat::None},
                                     {"x.srt", MarkupFormat::Srt},
                                     {"x.vtt", MarkupFormat::Vtt},
                                     {"de.po", MarkupFormat::Po},
                                     {"x.pot", MarkupFormat::Po},
                                     {"README.md", MarkupFormat::None},
                                     {"x.en", MarkupFormat::None},
                                     {"html", MarkupFormat::None},
                                     {"-", MarkupFormat::None}})
    EXPECT_EQ(format_of_name(name), format) << name;
}

TEST(TranslateDocument, TheFlagsNameElements) {
  const MarkupDocument document = read("one <x>two</x><y>three</y>", {.markup = MarkupFormat::Xml,
                                                                      .ignore_tags = {"x"},
                                                                      .splitting_tags = {"y"},
                                                                      .non_splitting_tags = {}});
  ASSERT_EQ(document.passages.size(), 2u);
  EXPECT_EQ(document.passages[0].tags.size(), 1u);
}

TEST(TranslateDocument, AFaultOfTheMarkupIsNamedWithItsPlace) {
  EXPECT_THAT(error_of("<a>\n</b>", MarkupFormat::Xml), Names("page ... line 2, column 3"));
  EXPECT_THAT(error_of("one caf\xE9", MarkupFormat::Html), Names("page ... UTF-8 ... byte 8"));
  EXPECT_THAT(error_of("one\n", MarkupFormat::Srt), testing::StartsWith("page: srt: "));
  EXPECT_EQ(error_of("", MarkupFormat::Html), "");
}

}  // namespace
}  // namespace dragoman
