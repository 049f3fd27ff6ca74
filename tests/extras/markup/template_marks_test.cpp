#include "extras/markup/template_marks.h"

#include <gtest/gtest.h>

#include <ctime>

#include "extras/markup/markup_formats.h"
#include "tests/extras/markup/word_translators.h"
#include "tests/repeated.h"

namespace dragoman {
namespace {

std::string reversed_html(const std::string& html) {
  return translated(parse_html(html), reversed);
}

std::vector<std::string> marks_of(const std::string& text) {
  std::vector<std::string> marks;
  for (const MarkupToken& mark : template_marks(text)) marks.emplace_back(mark.source.of(text));
  return marks;
}

TEST(TemplateMarks, TheMarksOfSeveralEnginesAreFound) {
  for (const std::string mark :
       {"{{ user.name }}", "{{{ raw }}}", "{{!-- a }} b --}}", "{% if a > b %}", "{# note #}",
        "<%= name %>", "<% if (a < b) { %>", "<?php echo \"</p>\"; ?>", "<?= $a->b ?>"})
    EXPECT_EQ(marks_of("one " + mark + " two"), (std::vector<std::string>{mark}));
}

TEST(TemplateMarks, ABeginningWithoutAnEndIsText) {
  for (const std::string text : {"one {{ two", "{% one", "<% one", "{ {one} }", "}} one {{",
                                 "<p>{{ one</p>two }}", "<!-- {{ --> one }}"})
    EXPECT_TRUE(marks_of(text).empty()) << text;
  EXPECT_EQ(marks_of("{{ one {{ two }}"), (std::vector<std::string>{"{{ two }}"}));
}

TEST(TemplateMarks, MarksStandWithinSentencesAndAreKept) {
  const auto texts = [](const std::string& html) { return parse_html(html).passages.at(0).text; };
  EXPECT_EQ(texts("<p>one {{ x y }} two</p>"), "one two") << "the model does not see them";
  EXPECT_EQ(reversed_html("<p>one {{ a > b }} two</p>"), "<p>{{ a > b }} two one</p>");
  EXPECT_EQ(reversed_html("<p><%= x y %> one two <%# z %></p>"),
            "<p><%= x y %> two one <%# z %></p>");
  EXPECT_EQ(reversed_html("<title>one {{ x y }}two</title>"), "<title>{{ x y }}two one</title>");
}

TEST(TemplateMarks, AStatementAndItsEndStayAroundTheirWords) {
  EXPECT_EQ(reversed_html("<p>one {% if x %}two{% endif %} three</p>"),
            "<p>three {% if x %}two{% endif %} one</p>");
  EXPECT_EQ(reversed_html("<p>one {{#if x}}two{{/if}} three</p>"),
            "<p>three {{#if x}}two{{/if}} one</p>");
  const std::string order =
      reversed_html("<p>one <% if x %>two<% else %>three<% end %> four <b>five</b></p>");
  EXPECT_LT(order.find("if x"), order.find("else")) << order;
  EXPECT_LT(order.find("else"), order.find("end")) << order;
}

TEST(TemplateMarks, MarksMayStandWithinTags) {
  for (const std::string tag :
       {"p {% if a > b %}class='x'{% endif %}", "p class=\"{{ a > b }}\"", "p {{ attributes }}",
        "p data-x=<%= a > b ? 1 : 2 %>", "p <?php if ($a->b) echo 'id=x' ?>", "h{{ level }}"})
    EXPECT_EQ(reversed_html("<" + tag + ">one two"), "<" + tag + ">two one");
  EXPECT_EQ(reversed_html("<td {% if a > b %}class='x'{% endif %}>one two</td>"),
            "<td {% if a > b %}class='x'{% endif %}>two one</td>");
}

TEST(TemplateMarks, MarksAreKeptInAttributesThatAreTranslated) {
  EXPECT_EQ(reversed_html("<img alt=\"one {{ x y }} two\">"), "<img alt=\"{{ x y }} two one\">");
  EXPECT_EQ(reversed_html("<img alt='{{ a }} it&apos;s &amp; one'>"),
            "<img alt='{{ a }} one &amp; it&#39;s'>");
  EXPECT_EQ(reversed_html("<img alt=one{{x}} title='one two'>"),
            "<img alt=one{{x}} title='two one'>");
}

TEST(TemplateMarks, AMetaThatATemplateFillsStays) {
  const std::string page = "<meta charset=\"{{ charset }}\">";
  EXPECT_EQ(parse_html(page).bytes, page);
}

TEST(TemplateMarks, ATextWithMarksAndWithoutTagsIsTranslatedLineByLine) {
  EXPECT_EQ(reversed_html("one {{ x }}two\nthree four"), "{{ x }}two one\nfour three");
}

TEST(TemplateMarks, MarksAreKeptInXml) {
  EXPECT_EQ(translated(parse_xml("<p a='{{ x }}'>one {{ x y }} two &amp; {% z %}</p>"), reversed),
            "<p a='{{ x }}'>&amp; {{ x y }} two one {% z %}</p>");
}

TEST(TemplateMarks, ATranslationMakesNoMark) {
  const auto marks = [](std::string_view) {
    return AlignedText{.text = "{{ a }} {% b %} {# c #} <% d %> {"};
  };
  const std::string written = "&#123;{ a }} &#123;% b %} &#123;# c #} &lt;% d %&gt; {";
  EXPECT_EQ(translated(parse_html("<p>one</p>"), marks), "<p>" + written + "</p>");
  EXPECT_EQ(translated(parse_xml("<p>one</p>"), marks), "<p>" + written + "</p>");
  EXPECT_EQ(marks_of(translated(parse_html("<img alt='one'>one {{ x }}"), marks)),
            (std::vector<std::string>{"{{ x }}"}));
}

TEST(TemplateMarks, TheTimeGrowsAsTheTextDoes) {
  for (const std::string begin : {"{{", "{%", "<%", "{{ }", "{{!--", "{{{ </"}) {
    const std::clock_t start = std::clock();
    template_marks(repeated(begin, 200'000));
    template_marks(repeated(begin, 200'000) + "}} %} --}} }}}");
    EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC) << begin;
  }
}

}  // namespace
}  // namespace dragoman
