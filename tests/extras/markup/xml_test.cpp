#include "extras/markup/markup_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/names.h"

namespace dragoman {
namespace {

std::string reversed_xml(const std::string& xml, const MarkupOptions& options = {}) {
  return translated(parse_xml(xml, options), reversed);
}

std::vector<std::string> texts_of(const std::string& xml, const MarkupOptions& options = {}) {
  return texts_of(parse_xml(xml, options));
}

std::string error_of(const std::string& xml) {
  return message_of<Error>([&] { parse_xml(xml); });
}

TEST(Xml, TagsBesideTextMoveWithTheirWords) {
  EXPECT_EQ(reversed_xml("one <x id=\"1\">two</x> three"), "three <x id=\"1\">two</x> one");
  EXPECT_EQ(reversed_xml("<d><p>one <x>two</x>, three</p><p>four five</p></d>"),
            "<d><p>three <x>two</x>, one</p><p>five four</p></d>");
  EXPECT_EQ(reversed_xml("one <x/> two"), "<x/> two one");
}

TEST(Xml, OtherElementsSplitSentences) {
  const std::string xml = "<d><t>one</t><p>two <b>three</b></p><p><b>four</b></p></d>";
  EXPECT_EQ(texts_of(xml), (std::vector<std::string>{"one", "two three", "four"}));
  EXPECT_EQ(texts_of(xml, {.outline_detection = false}),
            (std::vector<std::string>{"onetwo threefour"}));
  EXPECT_EQ(texts_of(xml, {.splitting_tags = {"p"}, .outline_detection = false}),
            (std::vector<std::string>{"one", "two three", "four"}));
  EXPECT_EQ(texts_of(xml, {.splitting_tags = {"b"}}),
            (std::vector<std::string>{"one", "two", "three", "four"}));
  EXPECT_EQ(texts_of("<d><t>one</t><t>two</t></d>", {.non_splitting_tags = {"t"}}),
            (std::vector<std::string>{"onetwo"}));
}

TEST(Xml, IgnoredElementsAreKept) {
  EXPECT_EQ(reversed_xml("one <x>two <y>three</y></x> four", {.ignore_tags = {"x"}}),
            "four <x>two <y>three</y></x> one");
  EXPECT_EQ(reversed_xml("<d><x>one two</x><p>one two</p><x/></d>", {.ignore_tags = {"x"}}),
            "<d><x>one two</x><p>two one</p><x/></d>");
}

TEST(Xml, ElementsThatAreNotToBeTranslatedAreKept) {
  EXPECT_EQ(reversed_xml("one <b translate=\"no\">two <i>three</i></b> four"),
            "four <b translate=\"no\">two <i>three</i></b> one");
  EXPECT_EQ(texts_of("one <b translate='no'>two</b> three"),
            (std::vector<std::string>{"one two three"}));
  EXPECT_EQ(reversed_xml("<d xmlns:its='x'><p its:translate='no'>one two</p><p>three four</p></d>"),
            "<d xmlns:its='x'><p its:translate='no'>one two</p><p>four three</p></d>");
  for (const std::string kept :
       {"<d translate='no'><p>one two</p><p translate='yes'>three four</p></d>",
        "<!DOCTYPE d [<!ATTLIST p translate CDATA 'no'>]><d><p>one <b>two</b></p></d>"})
    EXPECT_EQ(reversed_xml(kept), kept);
  EXPECT_EQ(reversed_xml("one <b translate='yes'>two</b> <x translate='no'/>"),
            "<b translate='yes'>two</b> one <x translate='no'/>");
}

TEST(Xml, LineEndsMaySplit) {
  const std::string xml = "<p>one\n  two <b>three</b></p>";
  EXPECT_EQ(texts_of(xml), (std::vector<std::string>{"one two three"}));
  EXPECT_EQ(texts_of(xml, {.line_ends = LineEnds::Split}),
            (std::vector<std::string>{"one", "two three"}));
}

TEST(Xml, AllButTextsStaysByteForByte) {
  const std::string head =
      "\xEF\xBB\xBF<?xml version='1.0' encoding='utf-8'?>\n<!DOCTYPE d [\n<!ENTITY e \"one two\">\n"
      "<!-- one two --><!ELEMENT d ANY>]>\n<?pi one two?>\n<d a = 'one two' >";
  const std::string middle = "<![CDATA[one <two]]><!-- one two --><?pi one two?>";
  EXPECT_EQ(reversed_xml(head + "\n one two\t" + middle + " </d >\n<!-- end -->\n"),
            head + "\n two one\t" + middle + " </d >\n<!-- end -->\n");
  EXPECT_EQ(reversed_xml(head + "one &e; two</d>"), head + "two &e; one</d>");
}

TEST(Xml, AnEntityForOneCharacterIsReadAsThatCharacter) {
  const std::string head =
      "<!DOCTYPE d [<!ENTITY nbsp '&#160;'><!ENTITY auml 'x'><!ENTITY auml '&#228;'>"
      "<!ENTITY sp ' '>]>";
  EXPECT_EQ(texts_of(head + "<d>one&nbsp;two&sp;th&auml;ree</d>"),
            (std::vector<std::string>{"one\u00A0two thxree"}));
  EXPECT_EQ(reversed_xml(head + "<d><p>&nbsp;&sp;one&nbsp;two&nbsp;</p>&nbsp;<p>&auml; b</p></d>"),
            head + "<d><p>&nbsp;&sp;two one&nbsp;</p>&nbsp;<p>b x</p></d>");
}

TEST(Xml, TheEntitiesOfXhtmlAreKnownWithoutTheirDocumentType) {
  const std::string head = "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'x.dtd'>";
  EXPECT_EQ(texts_of(head + "<p>caf&eacute;&nbsp;one &unknown; two</p>"),
            (std::vector<std::string>{"caf\u00E9\u00A0one two"}));
  EXPECT_EQ(reversed_xml(head + "<p>one &unknown; caf&eacute;</p>"),
            head + "<p>&unknown; caf\u00E9 one</p>");
}

TEST(Xml, AnEntityWithATextStandsForThatText) {
  const std::string head =
      "<!DOCTYPE d [<!ENTITY e 'two three'><!ENTITY b '<b>two</b>'><!ENTITY f SYSTEM 'f.xml'>]>";
  EXPECT_EQ(texts_of(head + "<d>one &e; four</d>"),
            (std::vector<std::string>{"one two three four"}));
  EXPECT_EQ(reversed_xml(head + "<d>one &e; four</d>"), head + "<d>four &e; one</d>");
  EXPECT_EQ(texts_of(head + "<d>one &b; &f; four</d>"), (std::vector<std::string>{"one four"}));
}

TEST(Xml, EntitiesAreReadAndWritten) {
  EXPECT_EQ(reversed_xml("&lt;one&gt; &amp;&#x32; &apos;caf&#233;&apos;"),
            "'café' &amp;2 &lt;one&gt;");
}

TEST(Xml, WhiteSpaceThatIsWrittenAsAReferenceStaysAroundTexts) {
  for (const std::string space : {"&#160;", "&#xA0;", "&#32;", " &#8195;\n&#x9;"})
    EXPECT_EQ(reversed_xml("<p>" + space + "one two" + space + "</p>"),
              "<p>" + space + "two one" + space + "</p>");
}

TEST(Xml, FaultsAreNamedWithTheirPlace) {
  EXPECT_THAT(error_of("<d>\n<p>one</d>"), Names("xml ... line 2, column 9"));
  EXPECT_THAT(error_of("one & two"), Names("xml ... line 1, column 6"));
  EXPECT_THAT(error_of("one &nbsp; two"), Names("xml ... line 1, column 5 ... entity"));
  EXPECT_THAT(error_of("one <b>two"), Names("xml ... line 1, column 11 ... not closed"));
  EXPECT_THAT(error_of("one\n<b>two"), Names("xml ... line 2, column 7 ... not closed"));
  EXPECT_THAT(error_of("</fragment>one<fragment>"), testing::StartsWith("xml: line 1, "));
  EXPECT_THAT(error_of("<?xml version='1.0' encoding='latin1'?><d>x</d>"),
              Names("encoding ... latin1"));
  EXPECT_EQ(error_of(""), "");
}

TEST(Xml, ATranslationInUtf8CannotStandUnderADeclarationOfAscii) {
  EXPECT_THAT(error_of("<?xml version='1.0' encoding='US-ASCII'?><d>x</d>"),
              Names("xml ... encoding US-ASCII ... iconv -t UTF-8"));
  EXPECT_EQ(error_of("<?xml version='1.0' encoding='utf-8'?><d>x</d>"), "");
  EXPECT_EQ(error_of("<?xml version='1.0'?><d>x</d>"), "");
}

TEST(Xml, AFragmentMayBeginWithAByteOrderMark) {
  EXPECT_EQ(reversed_xml("\xEF\xBB\xBF<p>one two</p><p>three <b>four</b></p>"),
            "\xEF\xBB\xBF<p>two one</p><p><b>four</b> three</p>");
  EXPECT_EQ(reversed_xml("\xEF\xBB\xBFone two"), "\xEF\xBB\xBFtwo one");
  EXPECT_THAT(error_of("\xEF\xBB\xBFone & two"), Names("xml ... line 1, column 6"));
  EXPECT_THAT(error_of("\xEF\xBB\xBFone <b>two"),
              Names("xml ... line 1, column 11 ... not closed"));
  EXPECT_EQ(reversed_xml("\xEF\xBB\xBF<!DOCTYPE d><d>one two</d>"),
            "\xEF\xBB\xBF<!DOCTYPE d><d>two one</d>");
}

TEST(Xml, DeepNestingSurvives) {
  std::string xml = "one ";
  for (int i = 0; i < 100'000; ++i) xml += "<b>";
  xml += "two";
  for (int i = 0; i < 100'000; ++i) xml += "</b>";
  EXPECT_EQ(reversed_xml(xml).size(), xml.size());
}

}  // namespace
}  // namespace dragoman
