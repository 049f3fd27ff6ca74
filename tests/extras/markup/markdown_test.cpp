#include "extras/markup/markup_formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "extras/markup/markdown_syntax.h"
#include "extras/markup/writing.h"
#include "tests/extras/markup/turned_markdown.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/names.h"
#include "tests/repeated.h"
#include "tokenizer/translatable.h"

namespace dragoman {

namespace {

using Texts = std::vector<std::string>;

/// Every passage becomes this text, whatever it was.
std::string with_text(const std::string& markdown, const std::string& text) {
  return translated(parse_markdown(markdown), [&](std::string_view) { return in_order(text); });
}

TEST(Markdown, BlocksKeepTheirMarks) {
  EXPECT_EQ(turned("# One two #\n\nThree four\n===\n"), "# two One #\n\nfour Three\n===\n");
  EXPECT_EQ(turned("- one two\n- three four\n  - [x] five six\n1. a b\n"),
            "- two one\n- four three\n  - [x] six five\n1. b a\n");
  EXPECT_EQ(turned("> one two\n>> three four\n\n***\n\n**a b** c\n"),
            "> two one\n>> four three\n\n***\n\nc **b a**\n");
}

TEST(Markdown, LinesStayLines) {
  EXPECT_EQ(turned("aa bb\ncc dd\n"), "dd cc\nbb aa\n");
  EXPECT_EQ(turned("> aa bb\n> cc dd\n\n- ee ff\n  gg hh"), "> dd cc\n> bb aa\n\n- hh gg\n  ff ee");
  EXPECT_EQ(with_text("aa bb\ncc dd\nee\n", "eins"), "eins\n");
}

TEST(Markdown, HardLineBreaksEndSentences) {
  EXPECT_EQ(texts_of("one two  \nthree\\\nfour<br>five\n"),
            (Texts{"one two", "three", "four", "five"}));
  EXPECT_EQ(turned("one two  \nthree four\\\nfive"), "two one  \nfour three\\\nfive");
}

TEST(Markdown, CodeIsLeftAlone) {
  const std::string code =
      "```python\nprint('one two')\n```\n\n    indented code\n\n~~~\nthree four\n~~~\n";
  EXPECT_EQ(turned(code), code);
  EXPECT_EQ(turned("run `make all` now"), "now `make all` run");
  EXPECT_EQ(turned("`` a`b `` one"), "one `` a`b ``");
  EXPECT_EQ(turned("```c\nopen for ever\n"), "```c\nopen for ever\n");
}

TEST(Markdown, EmphasisMovesWithItsWords) {
  EXPECT_EQ(turned("one **two** *three* ~~four~~"), "~~four~~ *three* **two** one");
  EXPECT_EQ(turned("***one*** two __three _four_ five__"), "__five _four_ three__ two ***one***");
  EXPECT_EQ(turned("**one\ntwo** three"), "three **two\none**");
}

TEST(Markdown, LinksKeepTheirUrls) {
  EXPECT_EQ(turned("see [the page](http://a.b/c_(d)) now"), "now [page the](http://a.b/c_(d)) see");
  EXPECT_EQ(turned("[one two](<u v> \"three four\")"), "[two one](<u v> \"four three\")");
  EXPECT_EQ(turned("one [two three][ref]\n\n[ref]: http://a.b 'Some title'\n"),
            "[three two][ref] one\n\n[ref]: http://a.b 'Some title'\n");
  EXPECT_EQ(turned("one <http://a.b> https://c.d/e_f me@a.org"),
            "me@a.org https://c.d/e_f <http://a.b> one");
}

TEST(Markdown, ALinkWhoseTextIsItsLabelGetsTheLabelBesideIt) {
  const std::string definition = "\n\n[one two]: http://a.b\n";
  EXPECT_EQ(turned("see [one two]" + definition), "[two one][one two] see" + definition);
  EXPECT_EQ(turned("see [one two][] *x*" + definition), "*x* [two one][one two] see" + definition);
  EXPECT_EQ(turned("no [link here] today"), "today here\\] \\[link no");
}

TEST(Markdown, ImagesHaveTextAndTitle) {
  EXPECT_EQ(turned("![one two](a.png \"three four\")"), "![two one](a.png \"four three\")");
  EXPECT_EQ(turned("[![one two](a.svg)](http://a.b) three"),
            "[![two one](a.svg)](http://a.b) three");
  EXPECT_EQ(turned("[![](a.svg)](http://a.b)\n[![](b.svg)](http://a.b)\n\none two"),
            "[![](a.svg)](http://a.b)\n[![](b.svg)](http://a.b)\n\ntwo one");
  EXPECT_EQ(turned("![one *two* three](a.png) four"), "four ![three *two* one](a.png)");
}

TEST(Markdown, TablesKeepTheirForm) {
  EXPECT_EQ(turned("| One two | *b* c |\n|:---|---:|\n| d e | `f|g` |\n"),
            "| two One | c *b* |\n|:---|---:|\n| e d | `f|g` |\n");
  EXPECT_EQ(with_text("|aa|\n|--|\n|bb|\n", "a | b"), "|a \\| b|\n|--|\n|a \\| b|\n");
}

TEST(Markdown, HtmlIsKept) {
  EXPECT_EQ(turned("<div align=\"center\">\none two\n</div>\n\nthree four\n"),
            "<div align=\"center\">\none two\n</div>\n\nfour three\n");
  EXPECT_EQ(turned("one <!-- two --> three <b>four</b>"), "<b>four</b> <!-- two --> three one");
  EXPECT_EQ(turned("one <a\nhref='x'>two</a> three"), "three <a\nhref='x'>two</a> one");
}

TEST(Markdown, ElementsOfCodeInASentenceAreKept) {
  EXPECT_EQ(turned("one <kbd>two three</kbd> + <KBD>C</KBD> four"),
            "four <KBD>C</KBD> + <kbd>two three</kbd> one");
  EXPECT_EQ(texts_of("one <code>a b</code>"), (Texts{"one a b"}));
  for (const std::string markdown : {"one <kbd>two", "one <kbd>two *three</kbd> four*"})
    EXPECT_EQ(same(markdown), markdown);
}

TEST(Markdown, EachNameOfABlockOfHtmlBeginsOne) {
  // CommonMark 0.31, section 4.6, condition 6; those of earlier versions besides.
  std::istringstream names(
      "address article aside base basefont blockquote body caption center col colgroup dd details "
      "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 "
      "h6 head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup "
      "option p param search section source summary table tbody td tfoot th thead title tr track "
      "ul");
  for (std::string name; names >> name;)
    for (const std::string& block : {"<" + name + ">one two", "</" + name + ">one two",
                                     "  <" + name + " a='b'> one two", "<" + name + "/> one two"})
      for (const std::string before : {"", "a\n", "> ", "- ", "1. > a\n   > "})
        EXPECT_EQ(turned(before + block), before + block);
  EXPECT_EQ(turned("<H2>one two"), "<H2>one two");
  EXPECT_EQ(turned("<thead\none two"), "<thead\none two");
  EXPECT_EQ(turned("<h7>one two</h7>"), "<h7>two one</h7>");
  EXPECT_EQ(turned("<headers>one two</headers>"), "<headers>two one</headers>");
  EXPECT_EQ(turned("`<h2>` one <h2>two</h2> x"), "x <h2>two</h2> one `<h2>`");
  for (const char* text : {"one <h2>two</h2>", "one <!-- two --> three"})
    EXPECT_EQ(turned(text), text) << "otherwise it would begin a line, and with it a block";
}

TEST(Markdown, FrontMatterStays) {
  const std::string matter = "---\ntitle: One two\n---\n";
  EXPECT_EQ(turned(matter + "# three four"), matter + "# four three");
  EXPECT_EQ(turned("+++\na = 'b c'\n+++\nd e"), "+++\na = 'b c'\n+++\ne d");
  EXPECT_EQ(turned("\xEF\xBB\xBF# one two"), "\xEF\xBB\xBF# two one");
}

TEST(Markdown, AFenceOfFrontMatterMayHaveBlanksAfterIt) {
  for (const std::string matter :
       {"--- \na: One two\nb: three\n---\n", "---\na: One two\nb: three\n--- \t\n",
        "+++ \r\na = 'b c'\r\n+++\t\r\n"})
    EXPECT_EQ(turned(matter + "\nthree four"), matter + "\nfour three");
}

TEST(Markdown, FullStopsEndFrontMatterOfYamlAlone) {
  const std::string matter = "---\na: One two\nb: three\n...\n";
  EXPECT_EQ(turned(matter + "one two\n\n---\n"), matter + "two one\n\n---\n");
  EXPECT_EQ(turned("+++\na = 'b c'\n...\n+++\nd e"), "+++\na = 'b c'\n...\n+++\ne d");
}

TEST(Markdown, FootnotesKeepTheirLabels) {
  EXPECT_EQ(turned("one[^1] two\n\n[^1]: three four\n[^note]: five\n\n    six seven\n"),
            "two one[^1]\n\n[^1]: four three\n[^note]: five\n\n    seven six\n");
  EXPECT_EQ(turned("> [!NOTE]\n> one two\n"), "> [!NOTE]\n> two one\n");
}

TEST(Markdown, TheBlocksOfAFootnoteAreBlocks) {
  const std::string code = "[^1]: one\n\n    ```\n    two three\n\n    four\n    ```\n\n";
  EXPECT_EQ(turned(code + "five six\n\n# seven eight\n"), code + "six five\n\n# eight seven\n");
  EXPECT_EQ(turned("[^1]: one two\n\n    - three four\n    - five six\n\n          code here\n"),
            "[^1]: two one\n\n    - four three\n    - six five\n\n          code here\n");
  EXPECT_EQ(turned("[^a]: one two\n\n\tthree four\n\n\t> five six\n\n    code here\n"),
            "[^a]: two one\n\n\tfour three\n\n\t> six five\n\n    here code\n");
  EXPECT_EQ(turned("[^1]: one two\n\n        code here\n\nthree four\n\n    code here\n"),
            "[^1]: two one\n\n        code here\n\nfour three\n\n    code here\n");
}

TEST(Markdown, ALineContinuesInAFootnote) {
  EXPECT_EQ(texts_of("one\n[^1]: two\n    three\nfour\n\nfive\n"),
            (Texts{"one", "two three four", "five"}));
  EXPECT_EQ(texts_of("[^1]:\n    one\n[^2]: *two*\n   [^3]: three\n- four\n\n  [^4]: five\n"),
            (Texts{"one", "two", "three", "four", "five"}));
}

TEST(Markdown, ATableMayFollowAParagraph) {
  const std::string table = "| one two | c |\n|---|:-:|\n| d e | `f` |\n";
  const std::string turned_table = "| two one | c |\n|---|:-:|\n| e d | `f` |\n";
  EXPECT_EQ(turned("three four\n" + table), "four three\n" + turned_table);
  EXPECT_EQ(turned("> three four:\n> | one two |\n> |-|\n> | d e |\n"),
            "> four: three\n> | two one |\n> |-|\n> | e d |\n");
  EXPECT_EQ(turned("- three four\n  | one two |\n  |-|\n  | d e |\n"),
            "- four three\n  | two one |\n  |-|\n  | e d |\n");
  EXPECT_EQ(texts_of("one\n| a | b |\n|---|\n"), (Texts{"one | a | b | |---|"})) << "not as many";
  const std::string kept = "```\none\n" + table + "```\n\n<div>\none\n" + table + "</div>\n";
  EXPECT_EQ(turned(kept), kept);
}

TEST(Markdown, MathematicsStays) {
  EXPECT_EQ(turned("one $a_1 + b$ two"), "two $a_1 + b$ one");
  EXPECT_EQ(turned("one $$x *y* z$$ and $`a`$ two"), "two $`a`$ and $$x *y* z$$ one");
  for (const std::string math : {"$$\na b\nc *d*\n$$\n", "$$a b\n\nc d$$\n", "> $$\n> a b\n> $$\n",
                                 "- $x y$\n", "$$ a b $$\n"})
    EXPECT_EQ(turned("one two\n\n" + math), "two one\n\n" + math);
  EXPECT_EQ(turned("one two\n$$\na b\n$$\nthree four"), "two one\n$$\na b\n$$\nfour three");
  EXPECT_EQ(texts_of("$5 and $10, or US$5 and 3$"), (Texts{"$5 and $10, or US$5 and 3$"}));
  EXPECT_EQ(with_text("xx", "a $b$ c"), "a \\$b\\$ c");
  EXPECT_EQ(turned("`$` one `$` two"), "two `$` one `$`");
}

TEST(Markdown, TemplatesStay) {
  EXPECT_EQ(turned("one {{ user.name | x }} two"), "two {{ user.name | x }} one");
  EXPECT_EQ(turned("one {% if x %} two"), "two {% if x %} one");
  EXPECT_EQ(turned("[one two]({{< ref \"a b.md\" >}})"), "[two one]({{< ref \"a b.md\" >}})");
  for (const std::string kept :
       {"{{< figure src=\"a.png\" title=\"A man\" >}}\n", "{{% note %}}\n", "{% for a in b %}\n",
        "{% highlight ruby %}\none two\n\nthree four\n{% endhighlight %}\n",
        "{{< figure\n  src=\"a.png\"\n  title=\"A man\"\n>}}\n", "<%= render 'one two' %>\n"})
    EXPECT_EQ(turned("one two\n" + kept + "three four\n"), "two one\n" + kept + "four three\n");
  EXPECT_EQ(with_text("xx", "a {{ b {% c"), "a \\{\\{ b \\{\\% c");
  EXPECT_EQ(turned("{{ a }} one two {{ b }}"), "{{ b }} two one {{ a }}");
}

TEST(Markdown, ConstructsOfGeneratorsOfSitesStay) {
  for (const std::string kept :
       {":::note One two\n", ":::\n", ":::tip[A tip]{a=b}\n", "[[_TOC_]]\n", "[TOC]\n",
        "{: .one two}\n", "{/* one two */}\n", "<Tabs values={[{label: 'A man', value: 'x'}]}>\n",
        "<Tabs\n  label='one two'\n  values={[{label: 'a b'}]}\n>\n", "{/* one\n\ntwo */}\n",
        "--8<-- \"one two.md\"\n"})
    EXPECT_EQ(turned("one two\n" + kept + "three four\n"), "two one\n" + kept + "four three\n");
  for (const std::string kept : {"import Tabs from '@theme/Tabs';\n", "import './a b.css'\n",
                                 "export const Highlight = ({children, color}) => (\n",
                                 "export const A = ({b}) => (\n  <p\n    a={{\n      one: two,\n"
                                 "    }}>\n\n    {b}\n  </p>\n);\n",
                                 "import {\n  one,\n  two\n} from 'a b';\n"})
    EXPECT_EQ(turned(kept + "\nthree four\n"), kept + "\nfour three\n");
  EXPECT_EQ(turned("import duties\n\nexport of goods"), "duties import\n\ngoods of export");
  EXPECT_EQ(turned("# one two {#my-id}\n\none two {#x} ##\n"),
            "# two one {#my-id}\n\ntwo one {#x} ##\n");
  EXPECT_EQ(turned("one {props.x} two"), "two {props.x} one");
  EXPECT_EQ(turned("!!! note \"One two\"\n    one two\n\n    three four\n\nfive six\n"),
            "!!! note \"One two\"\n    two one\n\n    four three\n\nsix five\n");
  EXPECT_EQ(turned("=== \"One two\"\n\n    one two\n\nfive six\n"),
            "=== \"One two\"\n\n    two one\n\nsix five\n");
  EXPECT_EQ(turned("*[One two]: one two\n*[HTML]: three four\n"),
            "*[One two]: two one\n*[HTML]: four three\n");
}

TEST(Markdown, MentionsOfGitHubStay) {
  const MarkupDocument document = parse_markdown("one @a-b/c two (#12) x@y.z a#1");
  std::vector<std::string> kept;
  for (const InlineTag& tag : document.passages.at(0).tags)
    kept.emplace_back(tag.source.of(document.bytes));
  EXPECT_EQ(kept, (std::vector<std::string>{"@a-b/c", "#12", "x@y.z"}));
}

TEST(Markdown, ConstructsOfWikisStay) {
  EXPECT_EQ(turned("one [[A page|Home]] two ![[b c.png]]"), "![[b c.png]] two [[A page|Home]] one");
  EXPECT_EQ(turned("one [[two]](u) three"), "three [\\[two\\]](u) one");
  EXPECT_EQ(turned("# one two :tada:\n\n- :bug: one two :+1:\n"),
            "# two one :tada:\n\n- :bug: two one :+1:\n");
  EXPECT_EQ(texts_of("at 10:30:15 or a:b:c"), (Texts{"at 10:30:15 or a:b:c"}));
  EXPECT_EQ(turned("one two\n: three four\n: five six\n"), "two one\n: four three\n: six five\n");
}

TEST(Markdown, EscapesAndEntitiesAreRead) {
  EXPECT_EQ(texts_of("\\*one\\* &amp; two &eacute; [x] ![a \\\" &lt;](u)"),
            (Texts{"*one* & two \u00E9 [x]", "a \" <"}));
}

TEST(Markdown, ATranslationIsNotReadAsMarkup) {
  for (const std::string text : {"- a",
                                 "1. a",
                                 "12) a",
                                 "# a",
                                 "> a",
                                 "*a*",
                                 "_a_",
                                 "`a`",
                                 "[a](b)",
                                 "<b>",
                                 "&amp;",
                                 "~~a~~",
                                 "---",
                                 "===",
                                 "a\\",
                                 "\\*",
                                 "| a |",
                                 "***",
                                 "+ a",
                                 "!",
                                 "_ _ _",
                                 "C #",
                                 ":::note",
                                 ": a",
                                 "!!! note",
                                 "$a$",
                                 "{{ a }}",
                                 "{% a %}",
                                 "<%= a %>",
                                 "[[a]]",
                                 "a_b 2 * 3 < 4 & 5"}) {
    const std::string markdown = "# x\n\nxx\nyy\n\n- **xx**[y](u) z\n  yy\n\n|x|\n|-|\n|x|\n";
    const std::string result = with_text(markdown, text);
    EXPECT_THAT(texts_of(result), testing::Each(text)) << result;
    EXPECT_EQ(texts_of(result).size(), has_letter_or_digit(text) ? 5u : 0u) << result;
    EXPECT_EQ(markdown_blocks(result).size(), 5u) << result;
  }
  EXPECT_EQ(with_text("xx", "snake_case 2 * 3 < 4 & 5 - 6. (a) C# 1."),
            "snake_case 2 * 3 < 4 & 5 - 6. (a) C# 1.");
}

TEST(Markdown, TheTextOfAFootnoteBeginsALine) {
  EXPECT_EQ(with_text("[^1]: x\n", "16. a"), "[^1]: 16\\. a\n");
  EXPECT_EQ(with_text("- x\n\n  [^\u00E9.]: x\n", "- a"), "- \\- a\n\n  [^\u00E9.]: \\- a\n");
  EXPECT_EQ(with_text("x [^1]: x\n", "16. a"), "16 [^1]. a\n");
  EXPECT_EQ(with_text("[^1] x\n", "(a)"), "[^1] (a)\n");
  EXPECT_EQ(with_text("[^1]x\n", "(a)"), "[^1]\\(a)\n");
}

/// The document with the two tags of its one passage around a stretch of its translation.
std::string with_marks(const std::string& markdown, const std::string& text, ByteRange stretch) {
  const MarkupDocument document = parse_markdown(markdown);
  const std::vector<PlacedTag> tags = {{.tag = 0, .text = {stretch.begin, stretch.begin}},
                                       {.tag = 1, .text = {stretch.end, stretch.end}}};
  std::string marked;
  std::size_t place = 0;
  for (const PlacedTag& tag : readable_marks(document, document.passages.at(0), text, tags)) {
    marked += text.substr(place, tag.text.begin - place);
    marked += document.passages[0].tags[tag.tag].source.of(document.bytes);
    place = tag.text.begin;
  }
  return marked + text.substr(place);
}

TEST(Markdown, MarksAreReadAsMarks) {
  const std::string next = "\u91CD\u3002\u6B21";  // two letters with a full stop between them
  EXPECT_EQ(with_marks("**one.** two", next, {0, 6}), "**\u91CD**\u3002\u6B21");
  EXPECT_EQ(with_marks("**one.** two", next, {3, 9}), "\u91CD\u3002**\u6B21**");
  EXPECT_EQ(with_marks("_one_ two", "einszwei drei", {4, 8}), "_einszwei_ drei");
  EXPECT_EQ(with_marks("*one* two", "einszwei drei", {4, 8}), "eins*zwei* drei");
  EXPECT_EQ(with_marks("*one* two", "eins zwei", {4, 5}), "eins zwei");
  for (const char* blank : {"", " "})
    EXPECT_EQ(with_text("**x** yy", blank), "**x** yy") << "without words it is not a translation";
}

TEST(Markdown, ATagThatStoodAloneStandsAlone) {
  EXPECT_EQ(turned("one two :tada:\nthree"), ":tada: three two\none");
  EXPECT_EQ(turned("*one two :tada:* three"), "three *:tada: two one*");
}

TEST(Markdown, SignsOfATitleOrALineAreNotReadAsMarkup) {
  EXPECT_EQ(with_text("![x](u 'x') `a`", "b` <i> $c$"),
            "![b\\` \\<i> \\$c\\$](u 'b\\` \\<i> \\$c\\$') `a`");
}

TEST(Markdown, MarksThatTouchAreNotReadAsOne) {
  EXPECT_EQ(with_text("`a` one `b` two `c`\n", "x"), "`a` x `b` `c`\n");
  EXPECT_EQ(with_text("one `a`, ``b`` and `c`.\n", "*"), "`a` ``b`` `c`\\*\n");
  const auto first_and_last = [](std::string_view) {
    return AlignedText{
        .text = "einsdrei",
        .words = {{.place = {0, 4}, .links = {{0, 1}}}, {.place = {4, 8}, .links = {{2, 1}}}}};
  };
  for (const std::string mark : {"**", "*", "__", "_", "~~"}) {
    const std::string markdown = mark + "one" + mark + " two " + mark + "three" + mark;
    EXPECT_EQ(translated(parse_markdown(markdown), first_and_last),
              mark + "eins" + mark + " " + mark + "drei" + mark);
  }
  EXPECT_EQ(same("one \\``a` ***two* three**"), "one \\``a` ***two* three**");
}

TEST(Markdown, BlanksOfATranslationMoveNoLine) {
  EXPECT_EQ(with_text("- x\n  - yy\n", "  # a  b"), "- \\# a  b\n  - \\# a  b\n");
}

TEST(Markdown, BareLinksEndWhereTheyEnded) {
  EXPECT_EQ(with_text("one https://a.b/c two", "(x)"), "(x https://a.b/c )");
  EXPECT_EQ(turned("one 'https://a.b/c' two"), "two 'https://a.b/c' one");
  EXPECT_EQ(with_text("one \"https://a.b/c\"", "x \"https://a.b/c\"y"), "x \"https://a.b/c \"y");
  EXPECT_EQ(with_text("one https://a.b/c", "x https://y www.z"), "x https://a.b/c www\\.z");
  EXPECT_EQ(turned("A B <me@a.org, you@a.org>"), "you@a.org> \\<me@a.org, B A");
  EXPECT_EQ(with_text("one me@a.org", "x me@a.org."), "x me@a.org.");
}

TEST(Markdown, ATranslationMakesNoTable) {
  EXPECT_EQ(with_text("x y\n---\n", "a |"), "a &#124;\n---\n");
  EXPECT_EQ(with_text("x y\n---\n", "a \\| b"), "a \\\\&#124; b\n---\n");
  EXPECT_EQ(with_text("x yy\nzz z\n", "a|b -|-"), "a|b\n\\-|-\n");
}

TEST(Markdown, ATranslationMakesNoFootnote) {
  EXPECT_EQ(with_text("[x](u)\n", "^1"), "[\\^1](u)\n");
  EXPECT_EQ(turned("[\\^one two](u)\n"), "[two ^one](u)\n");
}

TEST(Markdown, ATextWhoseTranslationChangesTheStructureStays) {
  MarkupDocument document = parse_markdown("# one\n\ntwo three\n\n- four\n- five six\n- seven\n");
  std::vector<AlignedText> translations;
  for (const char* text : {"eins", "zwei", "vier", "funf", "sieben"})
    translations.push_back({.text = text});
  // As if Markdown knew more than its writer does.
  document.has_structure = [](std::string_view written) {
    return written.find("zwei") == std::string_view::npos ||
           written.find("sieben") == std::string_view::npos;
  };
  const TranslatedDocument result = translated_document(document, translations);
  EXPECT_EQ(result.bytes, "# eins\n\nzwei\n\n- vier\n- funf\n- seven\n");
  EXPECT_EQ(result.untranslated, 1u);
}

TEST(Markdown, ADocumentWithNothingToTranslateStays) {
  for (const std::string markdown :
       {"", "\n", "\r\n\r\n", "---\n", "|--|\n", "![](a.png)\n", "[a]: http://b.c\n", "***",
        "<!-- one -->", "```\na\n```", "- \n- ", "> ", "\\", "`a`", "[", "*", "[](u)",
        "[!]\n\n[!]: u"})
    EXPECT_EQ(turned(markdown), markdown);
}

TEST(Markdown, LineEndsStay) {
  EXPECT_EQ(turned("# one two\r\n\r\naa bb\r\ncc dd"), "# two one\r\n\r\ndd cc\r\nbb aa");
  EXPECT_EQ(same("one\rtwo  \r\nthree"), "one\rtwo  \r\nthree");
}

TEST(Markdown, DeepAndLongDocumentsTakeNoQuadraticTime) {
  constexpr int kDepth = 10'000;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& markdown :
       {repeated("> ", kDepth) + "one two", repeated("*", kDepth) + "one" + repeated("*", kDepth),
        repeated("[", kDepth) + "one" + repeated("](u)", kDepth),
        repeated("![", kDepth) + "one" + repeated("](u)", kDepth), repeated("- ", kDepth) + "one",
        repeated("<b>", kDepth) + "one" + repeated("</i>", kDepth), repeated("`", kDepth) + "one",
        repeated("one\n", kDepth), repeated("*a ", kDepth), repeated("[a](u \"", kDepth),
        repeated("a **b** ", kDepth), repeated("[^1]", kDepth)})
    EXPECT_GE(same(markdown).size(), markdown.size());
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  EXPECT_LT(spent.count(), 20);
}

std::string fault_of(const std::string& markdown) {
  return message_of<Error>([&] { parse_markdown(markdown); });
}

TEST(Markdown, DefinitionsOfLinksTakeBoundedTime) {
  const auto nested = [](std::size_t depth) {
    return "[x]: /foo\n\n" + repeated("[", depth) + repeated("]", depth);
  };
  const std::string long_definition = "[x]: /" + std::string(500'000, 'u') + "\n\n";
  const std::clock_t begin = std::clock();
  EXPECT_THAT(fault_of(nested(50'000)), testing::HasSubstr("too many brackets"));
  EXPECT_THAT(fault_of(long_definition + repeated("[x]\n", 5'000)),
              testing::HasSubstr("used too often"));
  EXPECT_THAT(fault_of(long_definition + repeated("![x]\n", 5'000)),
              testing::HasSubstr("used too often"));
  // Brackets in code, which make no pairs, do not hide the others.
  EXPECT_THAT(fault_of("[x]: /foo\n\n" + repeated("[`]`", 30'000) + repeated("]", 30'000)),
              testing::HasSubstr("too many brackets"));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
}

TEST(Markdown, ManyLinksAreFine) {
  std::string markdown;
  for (int i = 0; i < 5'000; ++i) markdown += "- one [two][x] three [four](u)\n";
  markdown += "\n";
  for (int i = 0; i < 1'000; ++i) markdown += "one [two][x]\nthree [four](u)\n";
  markdown += "\n[x]: http://a.b/c 'd'\n";
  EXPECT_EQ(same(markdown), markdown);
  EXPECT_EQ(fault_of("[x]: /" + std::string(100'000, 'u') + "\n\n[x] [x] [x]\n"), "");
}

TEST(Markdown, BracketsAreCountedInEachTextAlone) {
  constexpr int kMany = 3'000;
  for (const std::string& text :
       {"| a | b |\n|--|--|\n" + repeated("| [one](http://a.b/cd) | `[]` [x] |\n", kMany),
        repeated("12. [one](http://a.b/cd) [x] ![](u)\n", kMany),
        repeated("- one\n    - [two](http://a.b/cd) `[`\n        1) [x]\n", kMany),
        repeated("# [one](http://a.b/cd)\n[two][x]\n***\n> [x]\n", kMany),
        "```\n" + repeated("[[\"one two three four\"]]\n", kMany) + "```\n"})
    EXPECT_EQ(fault_of(text + "\n[x]: /foo\n"), "") << text.substr(0, 100);
}

TEST(Markdown, LinesThatLookLikeOtherTextsHideNoBrackets) {
  constexpr int kMany = 20'000;
  const auto lines = [](const std::string& begin) {
    return repeated(begin + "[\n", kMany) + repeated(begin + "]\n", kMany);
  };
  const std::string row = repeated("[|", kMany) + repeated("]|", kMany);
  const std::clock_t begin = std::clock();
  for (const std::string& text :
       {lines("|"), lines("2. "), lines("    - "), lines("<b>"), "- b\n" + lines("    "),
        "> b\n" + lines("| "), lines("    1) "), "\n|a|b|\n|-|-|\n|" + row,
        "<![CDATA[\n>\n- a\n]]>\nb\n" + lines("    - ")})
    EXPECT_THAT(fault_of("[x]: /foo\n\na\n" + text), testing::HasSubstr("too many brackets"))
        << text.substr(0, 100);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 5);
}

}  // namespace

}  // namespace dragoman
