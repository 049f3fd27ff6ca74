#include "extras/markup/markup_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/utf8.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/names.h"
#include "tests/repeated.h"

namespace dragoman {
namespace {

std::string reversed_html(const std::string& html, const MarkupOptions& options = {}) {
  return translated(parse_html(html, options), reversed);
}

std::vector<std::string> texts_of(const std::string& html, const MarkupOptions& options = {}) {
  return texts_of(parse_html(html, options));
}

TEST(Html, InlineTagsMoveWithTheirWords) {
  EXPECT_EQ(reversed_html("<p>one <b>two</b> three</p>"), "<p>three <b>two</b> one</p>");
  EXPECT_EQ(reversed_html("<p><b>one two</b> three</p>"), "<p>three <b>two one</b></p>");
  EXPECT_EQ(reversed_html("<p>one <a href='x'>two <i>three</i></a> four</p>"),
            "<p>four <a href='x'><i>three</i> two</a> one</p>");
  EXPECT_EQ(reversed_html("<i>one</i> <b>two</b>"), "<b>two</b> <i>one</i>");
}

TEST(Html, SignsBesideATagStayOutsideOfIt) {
  EXPECT_EQ(reversed_html("<b>one</b>, (<i>two</i>) three"), "three (<i>two</i>) <b>one</b>,");
  EXPECT_EQ(reversed_html("<b>one</b>/<i>two</i> three"), "three <b>one</b>/<i>two</i>");
  EXPECT_EQ(reversed_html("one <q>two!</q> three"), "three <q>two!</q> one");
}

TEST(Html, SpaceInsideOfATagGoesOutside) {
  EXPECT_EQ(reversed_html("one<b> two </b>three"), "three <b>two</b> one");
}

TEST(Html, TagsAroundATextStayAsTheyAre) {
  EXPECT_EQ(reversed_html("<div\n ><a HREF=x><b >one two</b ></a>  <br><i></i> three </div>"),
            "<div\n ><a HREF=x><b >two one</b ></a>  <br><i></i> three </div>");
}

TEST(Html, BlocksAndLineBreaksSplitSentences) {
  EXPECT_EQ(texts_of("<h1>one two</h1>three<br>four<ul><li>five<li>six</ul>"),
            (std::vector<std::string>{"one two", "three", "four", "five", "six"}));
  EXPECT_EQ(texts_of("<table><tr><td>one<td>two</table>"),
            (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(texts_of("<td>one</td><td>two</td>"), (std::vector<std::string>{"one", "two"}));
}

TEST(Html, AnElementAcrossALineBreakStaysInOrder) {
  EXPECT_EQ(reversed_html("one <b>two<br>three</b> four"), "<b>two one<br>four three</b>");
  EXPECT_EQ(reversed_html("one <i><b>two x<br>three</b> y</i> four"),
            "x <i><b>two one<br>four y three</b></i>");
}

TEST(Html, WhiteSpaceAroundTextsStays) {
  EXPECT_EQ(reversed_html("  <p>\n  one\n   two </p>\n\n"), "  <p>\n  two one </p>\n\n");
  EXPECT_EQ(reversed_html("<p>&nbsp;one two\u00A0&nbsp; </p>"),
            "<p>&nbsp;two one\u00A0&nbsp; </p>");
}

TEST(Html, NoBreakSpaceAtTheEndOfAnElementStaysOutsideOfIt) {
  EXPECT_EQ(reversed_html("<p><b>&nbsp;one two</b> three.</p>"),
            "<p>&nbsp;three. <b>two one</b></p>");
  EXPECT_EQ(reversed_html("<p>one <b>two three.&nbsp;</b></p>"),
            "<p><b>three. two</b> one&nbsp;</p>");
  EXPECT_EQ(reversed_html("<p>&nbsp;<b>&nbsp;one</b> two<i>&nbsp;</i></p>"),
            "<p>&nbsp;&nbsp;two <b>one</b><i>&nbsp;</i></p>");
  EXPECT_EQ(reversed_html("<p><b> one</b> two</p>"), "<p>two <b>one</b></p>");
}

TEST(Html, WhiteSpaceThatIsWrittenAsAReferenceStaysAroundTexts) {
  for (const std::string space : {"&#160;",
                                  "&#xA0;",
                                  "&#XA0;",
                                  "&#32;",
                                  "&#160",
                                  "&nbsp",
                                  "&NonBreakingSpace;",
                                  "&Tab;",
                                  "&NewLine;",
                                  "&ensp;",
                                  "&emsp;",
                                  "&emsp13;",
                                  "&emsp14;",
                                  "&numsp;",
                                  "&puncsp;",
                                  "&thinsp;",
                                  "&ThinSpace;",
                                  "&hairsp;",
                                  "&VeryThinSpace;",
                                  "&MediumSpace;",
                                  "&ThickSpace;",
                                  " &ensp;\n&#8195; "}) {
    EXPECT_EQ(texts_of("<p>" + space + "(one) two" + space),
              (std::vector<std::string>{"(one) two"}));
    EXPECT_EQ(reversed_html("<p>" + space + "(one) two" + space),
              "<p>" + space + "two (one)" + space);
  }
  EXPECT_EQ(reversed_html("<p>&emsp;<b>one</b> two<!-- x -->&emsp;</p>"),
            "<p>&emsp;two <b>one</b><!-- x -->&emsp;</p>");
}

TEST(Html, AReferenceToOtherCharactersBelongsToTheText) {
  EXPECT_EQ(reversed_html("<p>&amp;ensp; two &amp;#160;</p>"), "<p>&amp;#160; two &amp;ensp;</p>");
  EXPECT_EQ(reversed_html("<p>&#133; two &#8230;</p>"), "<p>\u2026 two \u2026</p>");
  EXPECT_EQ(reversed_html("<p>&# two &#x</p>"), "<p>&amp;#x two &amp;#</p>");
}

TEST(Html, CodeAndElementsThatAreNotToBeTranslatedAreKept) {
  EXPECT_EQ(texts_of("press <kbd>Enter</kbd> now"), (std::vector<std::string>{"press Enter now"}));
  EXPECT_EQ(reversed_html("press <kbd>Enter</kbd> now"), "now <kbd>Enter</kbd> press");
  EXPECT_EQ(reversed_html("a <code title='no'>b&amp;<i>c</i></code> d"),
            "d <code title='no'>b&amp;<i>c</i></code> a");
  EXPECT_EQ(reversed_html("one <span translate=\"no\">two three</span> four"),
            "four <span translate=\"no\">two three</span> one");
  EXPECT_EQ(reversed_html("one <span class='x notranslate'>two three</span> four"),
            "four <span class='x notranslate'>two three</span> one");
  for (const std::string blank : {"\t", "\n", "\f", "\r\n"}) {
    const std::string kept = "<p class='x" + blank + "notranslate" + blank + "y'>one two</p>";
    EXPECT_EQ(reversed_html(kept), kept);
  }
  for (const std::string kept :
       {"<script>if (a < b) one();</script>", "<style>p { color: red }</style>",
        "<pre>one  two\nthree</pre>", "<!-- one two -->", "<textarea>one two</textarea>",
        "<div translate='no'><p title='one two'>one two</p></div>",
        "<svg><title>one two</title></svg>", "<template><p>one two</p></template>"}) {
    EXPECT_EQ(reversed_html(kept), kept);
    EXPECT_EQ(reversed_html("<p>one two</p>" + kept + "<p>three four</p>"),
              "<p>two one</p>" + kept + "<p>four three</p>");
  }
}

TEST(Html, KeptTextReplacesItsTranslation) {
  // The translator writes another text for what is kept.
  const MarkupDocument document = parse_html("one <code>x y</code> two");
  AlignedText translation = {
      .text = "zwei Ix Ypsilon eins",
      .words = {{{0, 4}, {{3, 1}}}, {{5, 7}, {{1, 1}}}, {{8, 15}, {{2, 1}}}, {{16, 20}, {{0, 1}}}}};
  EXPECT_EQ(translated_document(document, std::vector{translation}).bytes,
            "zwei <code>x y</code> eins");
}

TEST(Html, AttributesAreTranslated) {
  EXPECT_EQ(reversed_html("<img alt='one two' src='one two'>"),
            "<img alt='two one' src='one two'>");
  EXPECT_EQ(reversed_html("one <a title=\"two three\">four</a> five"),
            "five <a title=\"three two\">four</a> one");
  EXPECT_EQ(reversed_html("<input placeholder=one title=''>"),
            "<input placeholder=\"one\" title=''>");
  EXPECT_EQ(reversed_html("<p title='one &quot;two&quot; &amp; &lt;x'>"),
            "<p title='&lt;x &amp; \"two\" one'>");
}

TEST(Html, EntitiesAreReadAndWritten) {
  EXPECT_EQ(reversed_html("<p>&lt;one&gt; &amp;two caf&eacute;&nbsp;x</p>"),
            "<p>x café &amp;two &lt;one&gt;</p>");
  EXPECT_EQ(reversed_html("<p>AT&T R & D</p>"), "<p>D & R AT&amp;T</p>");
  EXPECT_EQ(reversed_html("<title>one <b> &amp; two</title>"),
            "<title>two &amp; &lt;b&gt; one</title>");
}

TEST(Html, TextWithoutTagsIsTranslatedLineByLine) {
  EXPECT_EQ(texts_of("one  two\n three & four\n\nfive > six"),
            (std::vector<std::string>{"one  two", "three & four", "five > six"}));
  EXPECT_EQ(reversed_html("one two\n three & four\r\n"), "two one\n four & three\r\n");
  EXPECT_EQ(reversed_html("\xEF\xBB\xBFone two\nthree four"), "\xEF\xBB\xBFtwo one\nfour three");
}

TEST(Html, SingleTagsStandWhereTheyStood) {
  EXPECT_EQ(reversed_html("one <img src=x> two three"), "three <img src=x> two one");
  EXPECT_EQ(reversed_html("one<sup><!-- note --></sup> two"), "two one<sup><!-- note --></sup>");
  EXPECT_EQ(reversed_html("one <img src=x>two"), "<img src=x>two one");
}

TEST(Html, BrokenPagesLoseNothing) {
  EXPECT_EQ(reversed_html("<b><i>one two</b> three</i>"), "<b><i>two one</b> three</i>");
  EXPECT_EQ(reversed_html("one </em> two</p></div>"), "</em>two one</p></div>");
  for (const std::string html :
       {"<", "<p", "<p title='one", "</", "<!--", "<![CDATA[one two]]>", "&", "&#", "&#0;", "<a<b>",
        "<table>one<tr>two", "<select><b>one", "<p><code>one<p>two", "<svg><p>one",
        "<html><body><html>one", "</body>one</html>two", "<frameset>one", "<title>one"})
    EXPECT_EQ(reversed_html(html), html);
}

TEST(Html, TagsThatEndOutOfOrderKeepTheirPlaces) {
  EXPECT_EQ(reversed_html("<p>a b <b>c d <i>e f</b> g h</i> i j</p><p>k <b>l</b></p>"),
            "<p>b a <b>d c <i>f e</b> h g</i> j i</p><p><b>l</b> k</p>");
  EXPECT_EQ(reversed_html("<b>a b<br>c <i>d e</b> f g</i> h"), "<b>b a<br>c <i>e d</b> g f</i> h");
  EXPECT_EQ(texts_of("<i>a b</i></b> <b>c</b> d"), (std::vector<std::string>{"a b c d"}))
      << "a tag that ends nothing";
}

TEST(Html, FragmentsStayFragments) {
  EXPECT_EQ(reversed_html("<li>one two"), "<li>two one");
  EXPECT_EQ(reversed_html("one two</div>"), "two one</div>");
  EXPECT_EQ(reversed_html("\xEF\xBB\xBFone two"), "\xEF\xBB\xBFtwo one");
  EXPECT_EQ(reversed_html(""), "");
}

TEST(Html, FurtherAttributesAreTranslatedIfTheyAreNamed) {
  const std::string page =
      "<meta name=Description content='one two'><meta property=og:title content='one two'>"
      "<meta name=viewport content='one two'><input type=SUBMIT value='one two'>"
      "<input value='one two'><option value='one two'><a aria-label='one two' data-x='one two'>";
  EXPECT_EQ(reversed_html(page), page);
  EXPECT_EQ(reversed_html(page, {.attributes = {"aria-label", "value", "content"}}),
            "<meta name=Description content='two one'><meta property=og:title content='two one'>"
            "<meta name=viewport content='one two'><input type=SUBMIT value='two one'>"
            "<input value='one two'><option value='one two'>"
            "<a aria-label='two one' data-x='one two'>");
}

TEST(Html, PartsOfATableWithoutATableKeepTheirAttributes) {
  EXPECT_EQ(reversed_html("<td translate='no'>one two</td><td title='one two'>three four</td>"),
            "<td translate='no'>one two</td><td title='two one'>four three</td>");
  for (const std::string kept :
       {"<tr class='notranslate'><td>one two</td></tr>",
        "<!-- <p> --><tbody translate=no><tr><td>one <b>two</b></tbody>",
        "</td><th translate='no'>one two</th>", "<caption translate='no'>one two</caption>"}) {
    EXPECT_EQ(reversed_html(kept), kept);
    EXPECT_EQ(reversed_html(kept + "<tr><td>one two</td></tr></table><p>one <i>two</i></p>"),
              kept + "<tr><td>two one</td></tr></table><p><i>two</i> one</p>");
  }
  EXPECT_EQ(reversed_html("<TD>one two<td>three four", {.ignore_tags = {"td"}}),
            "<TD>one two<td>three four");
}

TEST(Html, APageDeclaresUtf8WhateverItHasDeclaredBefore) {
  const auto written = [](const std::string& html) {
    return reversed_html("<!-- <meta charset=latin1> -->" + html + "<p>one two</p>");
  };
  const auto expected = [](const std::string& html) {
    return "<!-- <meta charset=latin1> -->" + html + "<p>two one</p>";
  };
  EXPECT_EQ(written("<META charset=\"iso-8859-1\">"), expected("<META charset=\"utf-8\">"));
  EXPECT_EQ(written("<meta\ncharset=l1 >"), expected("<meta\ncharset=utf-8 >"));
  EXPECT_EQ(
      written("<meta http-equiv='Content-type' content='text/html; Charset = latin1; x'><b>"),
      expected("<meta http-equiv='Content-type' content='text/html; Charset = utf-8; x'><b>"));
  EXPECT_EQ(written("<meta charset=x><meta charset='us-ascii'/>"),
            expected("<meta charset=utf-8><meta charset='utf-8'/>"));
  for (const std::string stays :
       {"<meta charset='UTF-8'>", "<meta charset=utf8>", "<meta charset=''>",
        "<meta name=description content='text/html; charset=latin1'>",
        "<meta http-equiv=Content-Type content='text/html; charset=UTF-8'>",
        "<meta http-equiv=Content-Type content='text/html; charset='>",
        "<script charset=latin1>x = '<meta charset=latin1>';</script>"})
    EXPECT_EQ(written(stays), expected(stays));
}

TEST(Html, TheCallerMayNameTags) {
  EXPECT_EQ(texts_of("one <x>two</x> three"), (std::vector<std::string>{"one two three"}));
  EXPECT_EQ(texts_of("one <x>two</x> three", {.splitting_tags = {"x"}}),
            (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(texts_of("<p>one</p><p>two</p>", {.non_splitting_tags = {"p"}}),
            (std::vector<std::string>{"onetwo"}));
  EXPECT_EQ(reversed_html("one <x>two three</x> four", {.ignore_tags = {"x"}}),
            "four <x>two three</x> one");
}

TEST(Html, NestingOfSomeHundredsSurvives) {
  const std::string begin = "one " + repeated("<i>", 500), end = repeated("</i>", 500);
  EXPECT_EQ(reversed_html(begin + "two" + end + " three").size(), begin.size() + end.size() + 9);
  const std::string deep = repeated("<div>", 500);
  EXPECT_EQ(reversed_html(deep + "one two"), deep + "two one");
  const std::string list = "<ul>" + repeated("<li>one two", 2'000);
  EXPECT_EQ(texts_of(list).size(), 2'000u) << "each <li> ends the one before";
  EXPECT_THROW(parse_html(repeated("<div>", 600)), Error);
}

std::string fault_of(const std::string& html) {
  return message_of<Error>([&] { parse_html(html); });
}

/// Elements with this many attributes each, which differ in the last one.
std::string elements_with_attributes(int elements, int attributes) {
  std::string html;
  for (int e = 0; e < elements; ++e) {
    html += "<b";
    for (int a = 0; a < attributes; ++a) html += " a" + std::to_string(a);
    html += "=" + std::to_string(e) + ">";
  }
  return html;
}

TEST(Html, UnboundedNestingAndAttributesAreRefusedInAnInstant) {
  constexpr const char* kNesting = "at most 512 can be; close its tags";
  constexpr const char* kAttributes = "too many attributes, at most 2000 can be";
  constexpr const char* kMemory = "takes too much memory";
  std::string wide = "<p>", in_html;  // each paragraph gets all the open elements again
  for (int i = 0; i < 4'000; ++i) wide += "<b a=" + std::to_string(i) + ">";
  const std::string one_tag = "<p" + elements_with_attributes(1, 20'000).substr(2);
  for (int i = 0; i < 10'000; ++i) in_html += "x<html a" + std::to_string(i) + ">";
  for (const auto& [html, fault] :
       {std::pair(repeated("<div>", 19'000), kNesting),
        std::pair(repeated("<i>", 30'000), kNesting),
        std::pair(repeated("<div/>", 16'000), kNesting),
        std::pair(wide + repeated("<p>x", 10'000), kNesting),
        std::pair(repeated("<b><i><p></b></p>", 6'000), kNesting),
        std::pair("<table>" + repeated("<b a><b c><b d><b e>", 5'000), kNesting),
        std::pair("<tr>" + repeated("<b a><b c><b d><b e>", 5'000), kNesting),
        std::pair("<td>" + repeated("<div>", 19'000), kNesting),
        std::pair(repeated("<object><a>", 9'000), kNesting),
        std::pair(repeated("<b><!--x--></body>", 5'000), kNesting),
        std::pair("<svg>" + repeated("<g>", 30'000), kNesting), std::pair(one_tag, kAttributes),
        std::pair(in_html, kAttributes), std::pair(elements_with_attributes(300, 60), kAttributes),
        std::pair("<p>" + elements_with_attributes(500, 1) + repeated("<p>x", 20'000), kMemory)}) {
    double seconds = 1;  // the least of three: other work on the machine slows some of them down
    for (int attempt = 0; attempt < 3 && seconds >= 0.4; ++attempt) {
      const std::clock_t begin = std::clock();
      EXPECT_THAT(fault_of(html), testing::HasSubstr(fault)) << html.substr(0, 40);
      seconds = std::min(seconds, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    EXPECT_LT(seconds, 0.4) << html.substr(0, 40);
  }
}

TEST(Html, ManyTagsAndNoBreakSpacesTakeNoQuadraticTime) {
  const auto seconds_since = [](std::clock_t begin) {
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const MarkupDocument tags = parse_html("<p>" + repeated("<br-x></br-x>one two ", 16'000));
  ASSERT_EQ(tags.passages.size(), 1u);
  const std::vector<AlignedText> translation(1, {.text = tags.passages[0].text});
  std::clock_t begin = std::clock();
  EXPECT_EQ(translated_document(tags, translation).bytes.size(), tags.bytes.size());
  EXPECT_LT(seconds_since(begin), 0.4);
  for (const std::string& html :
       {"<p>" + repeated("&nbsp;", 16'000) + "x", "<p>" + repeated("&#160;", 16'000) + "x",
        "<p>x" + repeated("&emsp; ", 16'000), "<p>x" + repeated("&nbsp;", 16'000),
        "<p>x<code>" + repeated(" &nbsp;", 16'000) + "</code>"}) {
    begin = std::clock();
    EXPECT_EQ(texts_of(html).at(0)[0], 'x');
    EXPECT_EQ(reversed_html(html), html);
    EXPECT_LT(seconds_since(begin), 0.4);
  }
}

TEST(Html, PagesAreReadHoweverLongTheyAre) {
  const std::string deep = repeated("<span>", 480) + repeated("<p>one</p></x>", 5'000);
  EXPECT_EQ(texts_of(deep).size(), 5'000u);
  EXPECT_EQ(texts_of("<table>" + repeated("<tr><td>one<td a=1>two", 5'000)).size(), 10'000u);
  const std::string entities = repeated("one &amp; two ", 40'000);
  EXPECT_EQ(texts_of(entities + "<p>").at(0).size(), entities.size() - 4 * 40'000 - 1);
}

TEST(Html, ElementsStayOutOfHalfAnElement) {
  EXPECT_EQ(translated(parse_html("<b>one</b> <i>two three: <p>four</p></i>"), reversed),
            "three: <b></b><i>two one <p>four</p></i>");
}

TEST(Html, AReferenceToNoCharacterIsReadAsValidText) {
  const std::string far = "&#x42" + std::string(77, 'b') + ";";
  const MarkupDocument document =
      parse_html("<p title=\"one " + far + "\">two " + far + "<code>x" + far + "</code></p>");
  ASSERT_EQ(document.passages.size(), 2u);
  for (const Passage& passage : document.passages)
    EXPECT_EQ(find_invalid_utf8(passage.text), std::string::npos) << passage.text;
}

}  // namespace
}  // namespace dragoman
