// Formats of XML that the root element names.
#include "extras/markup/xml_formats.h"

#include <gtest/gtest.h>

#include "extras/markup/markup_formats.h"
#include "extras/markup/template_marks.h"
#include "extras/markup/xml_tokens.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {
namespace {

std::string reversed_xml(const std::string& xml, const MarkupOptions& options = {}) {
  return translated(parse_xml(xml, options), reversed);
}

std::vector<std::string> texts_of(const std::string& xml) { return texts_of(parse_xml(xml)); }

// ---- RSS ----------------------------------------------------------------------------------------

std::string rss(const std::string& item) {
  return "<?xml version='1.0'?>\n<rss version='2.0'><channel>" + item + "</channel></rss>";
}

TEST(Rss, TitlesAndDescriptionsAreTranslatedAlone) {
  EXPECT_EQ(reversed_xml(rss("<title>one two</title><link>http://a b</link><item>"
                             "<guid>one two</guid><pubDate>Sat, 28 Nov</pubDate>"
                             "<category>one two</category><description>three four</description>"
                             "</item>")),
            rss("<title>two one</title><link>http://a b</link><item>"
                "<guid>one two</guid><pubDate>Sat, 28 Nov</pubDate>"
                "<category>one two</category><description>four three</description></item>"));
}

TEST(Rss, EscapedHtmlIsHtml) {
  EXPECT_EQ(reversed_xml(rss("<description>&lt;p&gt;one &lt;b class=\"x\">two&lt;/b> &amp;amp; "
                             "three&lt;/p&gt;&#60;p title=\"a &amp;lt; b\"&gt;four five&lt;/p&gt;"
                             "</description>")),
            rss("<description>&lt;p&gt;three &amp;amp; &lt;b class=\"x\">two&lt;/b> one&lt;/p&gt;"
                "&#60;p title=\"b &amp;lt; a\"&gt;five four&lt;/p&gt;</description>"));
  EXPECT_EQ(reversed_xml(rss("<description>&lt;pre&gt;one two&lt;/pre&gt;</description>")),
            rss("<description>&lt;pre&gt;one two&lt;/pre&gt;</description>"));
}

TEST(Rss, HtmlInASectionIsHtml) {
  EXPECT_EQ(reversed_xml(rss("<content:encoded><![CDATA[<p>one <i>two</i> &amp; x</p>]]>"
                             "</content:encoded>")),
            rss("<content:encoded><![CDATA[<p>x &amp; <i>two</i> one</p>]]></content:encoded>"));
  EXPECT_EQ(reversed_xml(rss("<title><![CDATA[one & two]]></title>")),
            rss("<title><![CDATA[two & one]]></title>"));
}

TEST(Rss, ATranslationDoesNotEndItsSection) {
  const auto to_end = [](std::string_view) { return AlignedText{.text = "a ]]> b"}; };
  for (const std::string title : {"<![CDATA[one two]]>", "<![CDATA[one > <b>two</b>]]>"}) {
    const std::string feed = rss("<title>" + title + "</title>");
    const std::string written = translated(parse_xml(feed), to_end);
    EXPECT_EQ(texts_of(written).size(), title.find('>') == title.size() - 1 ? 2 : 1) << written;
  }
}

TEST(Rss, ATextThatIsNotHtmlStaysPlain) {
  for (const std::string title : {"one &amp; two", "<![CDATA[one & two]]>"}) {
    const std::string feed = rss("<title>" + title + "</title>");
    for (const char* text : {"a <b> c", "a &amp; b", "</p>"}) {
      const TranslatedDocument result =
          translated_document(parse_xml(feed), std::vector{AlignedText{.text = text}});
      EXPECT_EQ(result.bytes, feed) << text;
      EXPECT_EQ(result.untranslated, 1U);
    }
  }
}

TEST(Rss, MarksOfTemplatesAreKept) {
  for (const auto& [begin, end] : {std::pair("", ""), std::pair("<![CDATA[", "]]>")}) {
    const auto title = [&](const std::string& text) {
      return rss(join_text("<title>", begin, text, end, "</title>"));
    };
    EXPECT_EQ(reversed_xml(title("one {{ a b }} two")), title("{{ a b }} two one"));
  }
}

TEST(Rss, ATranslationMakesNoMarkOfATemplate) {
  const std::string text = "{{ a }} {% b %} <% c %> {";
  for (const std::string title : {"one", "<![CDATA[one]]>"}) {
    const std::vector<AlignedText> translations{{.text = text}};
    const std::string written =
        translated_document(parse_xml(rss("<title>" + title + "</title>")), translations).bytes;
    EXPECT_TRUE(template_marks(written).empty()) << written;
    std::string read;
    for (const MarkupToken& token : xml_tokens(written, "")) {
      const std::string_view bytes = token.source.of(written);
      if (bytes.starts_with("<![CDATA[")) read += bytes.substr(9, bytes.size() - 12);
      if (token.kind == MarkupToken::Kind::Text && token.source.begin > written.find("<title>"))
        read += token.text;
    }
    EXPECT_EQ(read, text) << written;
  }
}

TEST(Rss, AnElementWithoutAVersionIsOtherXml) {
  EXPECT_EQ(reversed_xml("<rss><link>one two</link></rss>"), "<rss><link>two one</link></rss>");
}

// ---- strings of Android -------------------------------------------------------------------------

std::string android(const std::string& strings) {
  return "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<resources xmlns:xliff=\"urn:x\">" + strings +
         "</resources>";
}

std::string reversed_android(const std::string& string) {
  const std::string file = reversed_xml(android("<string name=\"a\">" + string + "</string>"));
  const std::size_t begin =
      android("<string name=\"a\">").size() - android("").size() + android("").find("</resources>");
  return file.substr(begin, file.find("</string>") - begin);
}

TEST(AndroidStrings, StringsAreTranslatedAndOtherResourcesAreNot) {
  const std::string others =
      "<color name='c'>one two</color><string name='k' translatable=\"false\">one two</string>"
      "<string-array name='x' translatable='false'><item>one two</item></string-array>"
      "<style name='s'><item name='i'>one two</item></style><string name='r'>@string/one two"
      "</string><string name='t'>?attr/one two</string>";
  EXPECT_EQ(reversed_xml(android("<string name='a'>one two</string>" + others)),
            android("<string name='a'>two one</string>" + others));
  EXPECT_EQ(reversed_xml(android("<plurals name='p'><item quantity='one'>a %d</item>"
                                 "<item quantity='other'>b %d</item></plurals>"
                                 "<string-array name='y'><item>c d</item></string-array>")),
            android("<plurals name='p'><item quantity='one'>%d a</item>"
                    "<item quantity='other'>%d b</item></plurals>"
                    "<string-array name='y'><item>d c</item></string-array>"));
}

TEST(AndroidStrings, EscapesAreReadAndWritten) {
  EXPECT_EQ(
      texts_of(android("<string name='a'>it\\'s \\\"one\\\" &amp; caf\\u00E9 \\@x \\\\</string>")),
      (std::vector<std::string>{"it's \"one\" & caf\u00E9 @x \\"}));
  EXPECT_EQ(reversed_android("it\\'s \\@one &amp; \\\\"), "\\\\ &amp; @one it\\'s");
  EXPECT_EQ(reversed_android("one \\@two"), "\\@two one") << "a reference begins a string";
  EXPECT_EQ(reversed_android("\"one  two\""), "\"two one\"");
}

TEST(AndroidStrings, LineEndsSplitAndStay) {
  EXPECT_EQ(reversed_android("one two\\n\\nthree four\\n"), "two one\\n\\nfour three\\n");
}

TEST(AndroidStrings, PlaceholdersAndTagsMoveWithTheirWords) {
  EXPECT_EQ(reversed_android("one %1$s <b>two</b>"), "<b>two</b> %1$s one");
  EXPECT_EQ(reversed_android("one &lt;b>two&lt;/b> three"), "three &lt;b>two&lt;/b> one");
  EXPECT_EQ(reversed_android("one <xliff:g id=\"x\" example=\"two\">%1$s</xliff:g> three"),
            "three <xliff:g id=\"x\" example=\"two\">%1$s</xliff:g> one");
  EXPECT_EQ(reversed_android("%s one %d two"), "two %s one %d") << "arguments keep their order";
}

TEST(AndroidStrings, AStringWithOtherPlaceholdersStaysUntranslated) {
  const std::string strings =
      android("<string name='a'>one %1$s</string><string name='b'>x</string>");
  const auto with_another = [](std::string_view) { return AlignedText{.text = "y %d"}; };
  std::vector<AlignedText> translations(2, with_another(""));
  const TranslatedDocument result = translated_document(parse_xml(strings), translations);
  EXPECT_EQ(result.untranslated, 2U);
  EXPECT_EQ(result.bytes, strings);
}

TEST(AndroidStrings, AStringWithAnotherSignStaysUntranslated) {
  for (const std::string string : {"one", "one %s"}) {
    const std::string file = android("<string name='a'>" + string + "</string>");
    for (const char* text : {"a {{", "{% a", "a <b>", "a %d"})
      EXPECT_EQ(translated_document(parse_xml(file), std::vector{AlignedText{.text = text}}).bytes,
                file)
          << string << ": " << text;
  }
}

TEST(AndroidStrings, APercentSignBeforeABlankIsText) {
  EXPECT_EQ(reversed_android("100% free dogs"), "dogs free 100%");
  EXPECT_EQ(reversed_android("100%% free %s"), "%s free 100%%");
  EXPECT_EQ(reversed_android("all 100%\\nof %s"), "100% all\\n%s of") << "and before a line end";
}

TEST(AndroidStrings, TheTextsOfAChoiceOfIcuAreTranslatedOneByOne) {
  EXPECT_EQ(reversed_android("{n, plural, one {# man} other {# men &amp; dogs of {x}}}"),
            "{n, plural, one {man #} other {{x} of dogs &amp; men #}}");
  EXPECT_EQ(reversed_android("\"{n, select, other {it\\'\\'s a man}}\""),
            "\"{n, select, other {man a it\\'\\'s}}\"");
  EXPECT_EQ(reversed_android("{n, select, other {a \\'{\\'man\\'}\\' b}}"),
            "{n, select, other {b \\'{\\'man\\'}\\' a}}");
}

TEST(AndroidStrings, AChoiceOfIcuThatIsNotAllOfItsStringStaysUntranslated) {
  for (const std::string choice :
       {"one {n, plural, other {# men}}", "{n, plural, other {<b>one man</b> two}}",
        "{n, plural, other {one \\n two}}", "{n, plural, other {a \"man\" b}}"}) {
    const std::string file = android("<string name='a'>" + choice + "</string>");
    const MarkupDocument document = parse_xml(file);
    EXPECT_TRUE(document.passages.empty()) << choice;
    const TranslatedDocument result = translated_document(document, {});
    EXPECT_EQ(result.untranslated, 1U) << choice;
    EXPECT_EQ(result.bytes, file);
  }
}

TEST(AndroidStrings, ATranslationChangesNoChoiceOfIcu) {
  const std::string file = android("<string name='a'>{n, select, other {it\\'s a man}}</string>");
  for (const char* text : {"a }", "{x}", "#"})
    EXPECT_EQ(
        translated(parse_xml(file), [&](std::string_view) { return AlignedText{.text = text}; }),
        file)
        << text;
}

// ---- XLIFF --------------------------------------------------------------------------------------

std::string xliff1(const std::string& units) {
  return "<?xml version=\"1.0\"?>\n<xliff version=\"1.2\"><file source-language=\"en\" "
         "target-language=\"de\"><body>" +
         units + "</body></file></xliff>";
}

std::string xliff2(const std::string& segments) {
  return "<xliff version=\"2.0\" srcLang=\"en\"><file id=\"f\"><unit id=\"u\">" + segments +
         "</unit></file></xliff>";
}

std::string tmx(const std::string& units) {
  return "<tmx version=\"1.4\"><header srclang=\"en\"><note>one two</note></header><body>" + units +
         "</body></tmx>";
}

std::string variant(const std::string& language, const std::string& text) {
  return "<tuv xml:lang=\"" + language + "\"><seg>" + text + "</seg></tuv>";
}

constexpr const char* kState = " state=\"translated\" state-qualifier=\"mt-suggestion\"";

TEST(Xliff, AnEmptyOrMissingTargetIsFilled) {
  EXPECT_EQ(
      reversed_xml(xliff1("<trans-unit id=\"1\">\n  <source>one two</source>\n</trans-unit>")),
      xliff1("<trans-unit id=\"1\">\n  <source>one two</source>\n  <target" + std::string(kState) +
             ">two one</target>\n</trans-unit>"));
  for (const std::string target : {"<target/>", "<target></target>", "<target> </target>"})
    EXPECT_EQ(
        reversed_xml(xliff1("<trans-unit><source>one two</source>" + target + "</trans-unit>")),
        xliff1("<trans-unit><source>one two</source><target" + std::string(kState) +
               ">two one</target></trans-unit>"));
  EXPECT_EQ(reversed_xml(xliff1("<trans-unit><source>a b</source><target state=\"new\" "
                                "xml:lang='de'/></trans-unit>")),
            xliff1("<trans-unit><source>a b</source><target state=\"translated\" xml:lang='de' "
                   "state-qualifier=\"mt-suggestion\">b a</target></trans-unit>"));
}

TEST(Xliff, AllElseStays) {
  for (const std::string unit :
       {"<trans-unit><source>one two</source><target>x</target><note>a b</note></trans-unit>",
        "<trans-unit translate=\"no\"><source>one two</source></trans-unit>",
        "<trans-unit><source> </source></trans-unit>", "<group><note>a b</note></group>"})
    EXPECT_EQ(reversed_xml(xliff1(unit)), xliff1(unit));
  EXPECT_EQ(
      reversed_xml(xliff1("<trans-unit><source>one two</source><alt-trans><source>a b</source>"
                          "<target>c d</target></alt-trans></trans-unit>")),
      xliff1("<trans-unit><source>one two</source><target" + std::string(kState) +
             ">two one</target><alt-trans><source>a b</source><target>c d</target>"
             "</alt-trans></trans-unit>"));
}

TEST(Xliff, TheTextsOfAChoiceOfIcuAreTranslatedOneByOne) {
  const auto filled = [](const std::string& source, const std::string& target) {
    return xliff1(join_text("<trans-unit><source>", source, "</source><target", kState, ">", target,
                            "</target></trans-unit>"));
  };
  const auto unit = [](const std::string& source) {
    return xliff1("<trans-unit><source>" + source + "</source><target/></trans-unit>");
  };
  const std::string choice = "{n, plural, one {# man} other {# men &amp; dogs}}";
  EXPECT_EQ(reversed_xml(unit(choice)),
            filled(choice, "{n, plural, one {man #} other {dogs &amp; men #}}"));
  const std::string quoted = "{n, plural, other {a &apos;{x}&apos; {x}}}";
  EXPECT_EQ(reversed_xml(unit(quoted)),
            filled(quoted, "{n, plural, other {{x} &apos;{x}&apos; a}}"));
}

TEST(Xliff, AUnitWhoseChoiceOfIcuCannotBeTranslatedStaysAsItIs) {
  const std::string choice = "{n, plural, one {# man} other {# men}}";
  const auto segment = [](const std::string& text) {
    return xliff2("<segment state=\"initial\"><source>" + text + "</source></segment>");
  };
  const auto unit = [](const std::string& text) {
    return xliff1("<trans-unit><source>" + text + "</source><target state=\"new\"/></trans-unit>");
  };
  for (const std::string& text : {"one " + choice, std::string("{n, plural, other {<x/># men}}")})
    for (const std::string& file : {unit(text), segment(text)}) {
      const TranslatedDocument result = translated_document(parse_xml(file), {});
      EXPECT_EQ(result.bytes, file);
      EXPECT_EQ(result.untranslated, 1U) << text;
    }
  for (const std::string& file : {unit(choice), segment(choice)}) {
    const std::vector<AlignedText> translations(2, AlignedText{.text = "}"});
    const TranslatedDocument result = translated_document(parse_xml(file), translations);
    EXPECT_EQ(result.bytes, file);
    EXPECT_EQ(result.untranslated, 1U);
  }
}

/// The target that a unit of this source gets. The source stays as it is.
std::string target_of(const std::string& source) {
  const std::string file =
      reversed_xml(xliff1("<trans-unit><source>" + source + "</source><target/></trans-unit>"));
  EXPECT_NE(file.find("<source>" + source + "</source>"), std::string::npos);
  const std::size_t begin = file.find('>', file.find("<target")) + 1;
  return file.substr(begin, file.find("</target>") - begin);
}

TEST(Xliff, InlineCodesAreKept) {
  EXPECT_EQ(target_of("one <g id=\"1\">two</g> three"), "three <g id=\"1\">two</g> one");
  EXPECT_EQ(target_of("one <x id=\"1\"/> two"), "<x id=\"1\"/> two one");
  EXPECT_EQ(target_of("one <ph id=\"1\">code <sub>x y</sub></ph> two"),
            "<ph id=\"1\">code <sub>x y</sub></ph> two one");
  EXPECT_EQ(target_of("one <bpt id=\"1\">&lt;b></bpt>two<ept id=\"1\">&lt;/b></ept> three"),
            "three <bpt id=\"1\">&lt;b></bpt>two<ept id=\"1\">&lt;/b></ept> one");
  EXPECT_EQ(target_of("one <bx id=\"1\" rid=\"4\"/>two<ex id=\"2\" rid=\"4\"/> three"),
            "three <bx id=\"1\" rid=\"4\"/>two<ex id=\"2\" rid=\"4\"/> one");
  EXPECT_EQ(target_of("one <mrk mtype=\"protected\">two three</mrk> four"),
            "four <mrk mtype=\"protected\">two three</mrk> one");
  EXPECT_EQ(target_of("one %1$s {{ two x }}"), "%1$s one {{ two x }}");
}

TEST(Xliff, AUnitWhoseTranslationHasOtherPlaceholdersOrTagsStaysAsItIs) {
  for (const std::string& file :
       {xliff1("<trans-unit><source>one %s</source></trans-unit>"),
        xliff2("<segment><source>one <ph id=\"1\"/></source><target/></segment>")})
    for (const char* text : {"a %d", "a {0}", "a <b>", "a {{", "{% a"}) {
      const std::vector<AlignedText> translations{{.text = text}};
      const TranslatedDocument result = translated_document(parse_xml(file), translations);
      EXPECT_EQ(result.bytes, file) << text;
      EXPECT_EQ(result.untranslated, 1U) << text;
    }
}

TEST(Xliff, ASectionOfASourceIsTextOfItsTarget) {
  EXPECT_EQ(target_of("<![CDATA[one <b>two</b> & %s three]]>"),
            "three %s &amp; &lt;b&gt;two&lt;/b&gt; one");
  EXPECT_EQ(target_of("one <![CDATA[two]]> <g id=\"1\"><![CDATA[three]]></g>"),
            "<g id=\"1\">three</g> two one");
  EXPECT_EQ(target_of("<!-- <![CDATA[ -->one two"), "<!-- <![CDATA[ -->two one");
}

TEST(Xliff, ATargetWithAnEmptySectionOrACommentIsEmpty) {
  for (const std::string target : {"<![CDATA[]]>", "<![CDATA[ ]]>", "<!-- a b -->", "<?a b?>"})
    EXPECT_EQ(reversed_xml(xliff1("<trans-unit><source>one two</source><target>" + target +
                                  "</target></trans-unit>")),
              xliff1("<trans-unit><source>one two</source><target" + std::string(kState) +
                     ">two one</target></trans-unit>"));
  const std::string blank = "<trans-unit><source><![CDATA[ ]]></source><target/></trans-unit>";
  EXPECT_EQ(reversed_xml(xliff1(blank)), xliff1(blank));
}

TEST(Xliff, AUnitStaysAsItIsIfATextOfItGetsNoWords) {
  const std::vector<AlignedText> translations{{.text = " "}, {.text = "a"}};
  for (const std::string& file :
       {xliff1("<trans-unit><source>one</source><target state=\"new\"/></trans-unit>"),
        xliff2("<segment state=\"initial\"><source>one</source></segment>"),
        xliff1("<trans-unit><source>a b. c</source><seg-source><mrk mtype=\"seg\">a b.</mrk>"
               "<mrk mtype=\"seg\">c</mrk></seg-source></trans-unit>"),
        tmx("<tu>" + variant("en", "one") + variant("de", "") + "</tu>"),
        std::string("<resources><string name=\"a\">one\\ntwo</string></resources>")}) {
    const TranslatedDocument result = translated_document(parse_xml(file), translations);
    EXPECT_EQ(result.bytes, file);
    EXPECT_EQ(result.untranslated, 1U) << file;
  }
}

TEST(Xliff, SegmentsOfAUnitAreTranslatedEach) {
  EXPECT_EQ(reversed_xml(xliff1(
                "<trans-unit><source>a b. c d.</source><seg-source><mrk mtype=\"seg\" mid=\"1\">a "
                "b.</mrk> <mrk mtype=\"seg\" mid=\"2\">c d.</mrk></seg-source></trans-unit>")),
            xliff1("<trans-unit><source>a b. c d.</source><seg-source><mrk mtype=\"seg\" "
                   "mid=\"1\">a b.</mrk> <mrk mtype=\"seg\" mid=\"2\">c d.</mrk></seg-source>"
                   "<target" +
                   std::string(kState) +
                   "><mrk mtype=\"seg\" mid=\"1\">b. a</mrk> "
                   "<mrk mtype=\"seg\" mid=\"2\">d. c</mrk></target></trans-unit>"));
}

TEST(Xliff, Version2HasTheStateAtItsSegment) {
  EXPECT_EQ(reversed_xml(xliff2("<segment state=\"initial\"><source>one <pc id=\"1\">two</pc>"
                                "</source></segment><ignorable><source> x y </source></ignorable>"
                                "<segment><source>a <ph id='2'/> b</source><target/></segment>"
                                "<segment><source>a b</source><target>c</target></segment>")),
            xliff2("<segment state=\"translated\"><source>one <pc id=\"1\">two</pc></source>"
                   "<target><pc id=\"1\">two</pc> one</target></segment>"
                   "<ignorable><source> x y </source></ignorable>"
                   "<segment state=\"translated\"><source>a <ph id='2'/> b</source>"
                   "<target><ph id='2'/> b a</target></segment>"
                   "<segment><source>a b</source><target>c</target></segment>"));
}

TEST(Xliff, LineEndsStayIfTheFilePreservesSpace) {
  EXPECT_EQ(reversed_xml(xliff1("<trans-unit xml:space=\"preserve\"><source>a b\n  c d</source>"
                                "<target/></trans-unit>")),
            xliff1("<trans-unit xml:space=\"preserve\"><source>a b\n  c d</source><target" +
                   std::string(kState) + ">b a\n  d c</target></trans-unit>"));
}

// ---- TMX ----------------------------------------------------------------------------------------

TEST(Tmx, AnEmptySegmentOfAnotherLanguageIsFilled) {
  EXPECT_EQ(reversed_xml(tmx("<tu><prop type=\"x\">one two</prop>" +
                             variant("en-US", "one <hi>two</hi>") +
                             "<tuv xml:lang=\"de\"><seg/></tuv></tu>")),
            tmx("<tu><prop type=\"x\">one two</prop>" + variant("en-US", "one <hi>two</hi>") +
                variant("de", "<hi>two</hi> one") + "</tu>"));
}

TEST(Tmx, TheOnlyEmptySegmentOfSeveralLanguagesIsFilled) {
  const auto unit = [](const std::string& german) {
    return tmx("<tu>" + variant("en", "one two") + variant("fr", "un deux") +
               variant("de", german) + "</tu>");
  };
  EXPECT_EQ(reversed_xml(unit("")), unit("two one"));
}

TEST(Tmx, AUnitWithSeveralEmptySegmentsStaysUntranslated) {
  const std::string file =
      tmx("<tu>" + variant("en", "one two") + variant("fr", "") + variant("de", "") + "</tu>");
  const TranslatedDocument result = translated_document(parse_xml(file), {});
  EXPECT_EQ(result.bytes, file);
  EXPECT_EQ(result.untranslated, 1U);
}

TEST(Tmx, SegmentsOfOtherLanguagesStay) {
  const std::string unit = "<tu>" + variant("en", "one two") + variant("fr", "un deux") + "</tu>";
  EXPECT_EQ(reversed_xml(tmx(unit)), tmx(unit));
  EXPECT_EQ(reversed_xml(tmx("<tu>" + variant("fr", "un deux") + "</tu>")),
            tmx("<tu>" + variant("fr", "un deux") + "</tu>"));
}

TEST(Tmx, TheTextsOfAChoiceOfIcuAreTranslatedOneByOne) {
  const std::string choice = "{n, plural, one {# man} other {# men}}";
  const auto unit = [](const std::string& source, const std::string& target) {
    return tmx("<tu>" + variant("en", source) + variant("de", target) + "</tu>");
  };
  EXPECT_EQ(reversed_xml(unit(choice, "")), unit(choice, "{n, plural, one {man #} other {men #}}"));
  for (const std::string& left :
       {"one " + choice, std::string("{n, plural, other {<hi>a</hi> #}}")}) {
    const TranslatedDocument result = translated_document(parse_xml(unit(left, "")), {});
    EXPECT_EQ(result.bytes, unit(left, ""));
    EXPECT_EQ(result.untranslated, 1U) << left;
  }
}

TEST(Tmx, AUnitInOneLanguageIsTranslatedInItsPlace) {
  EXPECT_EQ(reversed_xml(tmx(
                "<tu>" + variant("EN", "one <bpt i=\"1\">x y</bpt>two<ept i=\"1\"/> z") + "</tu>")),
            tmx("<tu>" + variant("EN", "z <bpt i=\"1\">x y</bpt>two<ept i=\"1\"/> one") + "</tu>"));
}

}  // namespace
}  // namespace dragoman
