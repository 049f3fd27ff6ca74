// Properties of any document and any alignment.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "base/random.h"
#include "extras/markup/markup_formats.h"
#include "extras/markup/place_tags.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {
namespace {

/// Every tag is different, so that a lost or doubled one is seen.
class RandomDocument {
 public:
  explicit RandomDocument(RandomStream& random) : random_(random) {}

  std::string fragment(int depth) {
    std::string text;
    for (std::uint64_t n = random_.below(5) + 1; n-- > 0;) text += item(depth);
    return text;
  }

 private:
  std::string item(int depth) {
    static const std::vector<std::string> kTexts = {"one",  "two three",     " ",  "four, five ",
                                                    " six", "seven\n eight", "\t", "(nine)",
                                                    " - ",  "ten."};
    static const std::vector<std::string> kNames = {"b", "i", "span", "p", "div", "code", "x"};
    const std::uint64_t kind = random_.below(10);
    if (depth == 0 || kind < 5) return random_.choice(kTexts);
    const std::string id = std::to_string(++id_);
    if (kind == 5) return "<img id='" + id + "'/>";
    if (kind == 6) return "<br id='" + id + "'/>";
    if (kind == 7) return "<!--" + id + "-->";
    const std::string name =
        random_.choice(kNames) + "-" + id;  // an element that HTML does not know
    const std::string known = random_.choice(kNames);
    const std::string& used = random_.chance(0.5) ? name : known;
    return "<" + used + " id='" + id + "'>" + fragment(depth - 1) + "</" + used + ">";
  }

  RandomStream& random_;
  int id_ = 0;
};

std::vector<std::string> tags_of(const std::string& document) {
  std::vector<std::string> tags;
  for (std::size_t begin = document.find('<'); begin != std::string::npos;
       begin = document.find('<', begin + 1))
    tags.push_back(document.substr(begin, document.find('>', begin) + 1 - begin));
  return tags;
}

std::map<std::string, int> counted_tags(const std::string& document) {
  std::map<std::string, int> counts;
  for (const std::string& tag : tags_of(document)) ++counts[tag];
  return counts;
}

/// Each end tag ends the element that was begun last.
bool is_balanced(const std::string& document) {
  std::vector<std::string> open;
  for (const std::string& tag : tags_of(document)) {
    if (tag.starts_with("<!") || tag.ends_with("/>")) continue;
    const std::string name = tag.substr(1, tag.find_first_of(" >") - 1);
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

std::string without_tags(const std::string& document) {
  std::string text;
  bool is_tag = false;
  for (const char c : document) {
    if (c == '<') is_tag = true;
    if (!is_tag) text += c;
    if (c == '>') is_tag = false;
  }
  return text;
}

constexpr int kDocuments = 10'000;

TEST(RandomDocuments, NoTagIsLostDoubledOrMisnested) {
  for (int i = 0; i < kDocuments; ++i) {
    RandomStream random(1, i);
    const std::string document = RandomDocument(random).fragment(4);
    const auto translate = [&](std::string_view text) { return random_translation(text, random); };
    for (const std::string& html : {translated(parse_html(document), translate),
                                    translated(parse_xml(document), translate)}) {
      ASSERT_EQ(counted_tags(html), counted_tags(document)) << document << "\n->\n" << html;
      ASSERT_TRUE(is_balanced(html)) << document << "\n->\n" << html;
    }
  }
}

/// The letters inside of each element, by its tag.
std::map<std::string, std::string> contents_of(const std::string& html) {
  std::map<std::string, std::string> contents;
  std::vector<std::string> open;
  for (std::size_t i = 0; i < html.size(); ++i) {
    if (html[i] == '<') {
      const std::size_t end = html.find('>', i) + 1;
      if (html[i + 1] == '/')
        open.pop_back();
      else
        open.push_back(html.substr(i, end - i));
      i = end - 1;
    } else if (html[i] != ' ') {
      for (const std::string& tag : open) contents[tag] += html[i];
    }
  }
  for (auto& [tag, letters] : contents) std::ranges::sort(letters);
  return contents;
}

TEST(RandomDocuments, WithoutItsTagsATextIsItsTranslation) {
  static const std::vector<std::string> kNames = {"b", "i", "span", "u", "em"};
  for (int i = 0; i < kDocuments; ++i) {
    RandomStream random(2, i);
    std::string plain, html;
    std::vector<std::string> open;
    for (int n = 0; n < 12; ++n) {
      const std::string word(1, static_cast<char>('a' + n));
      if (n > 0) html += ' ', plain += ' ';
      if (random.chance(0.3)) {
        open.push_back(random.choice(kNames));
        html += "<" + open.back() + " id=" + std::to_string(n) + ">";
      }
      html += word, plain += word;
      for (; !open.empty() && (n == 11 || random.chance(0.4)); open.pop_back())
        html += "</" + open.back() + ">";
    }
    const std::string result = translated(parse_html(html), reversed);
    ASSERT_EQ(without_tags(result), reversed(plain).text) << html << "\n->\n" << result;
    ASSERT_EQ(contents_of(result), contents_of(html)) << html << "\n->\n" << result;
  }
}

void expect_whole(const MarkupDocument& document, RandomStream& random) {
  std::size_t end = 0;
  for (const Passage& passage : document.passages) {
    if (passage.writing == Writing::HtmlAttribute) continue;
    ASSERT_LE(end, passage.source.begin);
    ASSERT_LE(passage.source.end, document.bytes.size());
    end = passage.source.begin;
    for (const InlineTag& tag : passage.tags) {
      ASSERT_LE(end, tag.source.begin);
      ASSERT_LE(tag.text.end, passage.text.size());
      end = tag.source.end;
    }
    ASSERT_LE(end, passage.source.end);
    end = passage.source.end;
    const AlignedText translation = random_translation(passage.text, random);
    std::map<std::size_t, int> counts;
    std::size_t place = 0;
    for (const PlacedTag& tag : place_tags(passage, translation)) {
      ++counts[tag.tag];
      ASSERT_LE(place, tag.text.begin);
      place = tag.text.end;
    }
    ASSERT_LE(place, translation.text.size());
    ASSERT_EQ(counts.size(), passage.tags.size());
    for (const auto& [tag, count] : counts) ASSERT_EQ(count, 1);
  }
}

TEST(RandomDocuments, BytesThatAreNotMarkupDoNoHarm) {
  static const std::vector<std::string> kBits = {"<",         ">",
                                                 "/",         "b",
                                                 "p",         "i>",
                                                 "</",        "<b>",
                                                 "</b>",      "<p>",
                                                 "<!--",      "-->",
                                                 "&",         "&amp;",
                                                 "=",         "'",
                                                 "\"",        " ",
                                                 "\n",        "<table>",
                                                 "<td>",      "<svg>",
                                                 "<title>",   "one two",
                                                 "</table>",  "<a title='",
                                                 "]]>",       "<code>",
                                                 "</code>",   "<i>",
                                                 "</i>",      "<script>",
                                                 "<select>",  "\u00E9",
                                                 "</p>",      "<![CDATA[",
                                                 "</script>", std::string(1, '\0')};
  static const std::vector<std::string> kBegins = {"", "<meta charset=x>", "<tr>",
                                                   "<td translate=no>"};
  for (int i = 0; i < kDocuments; ++i) {
    RandomStream random(3, i);
    std::string html = random.choice(kBegins);
    for (std::uint64_t n = random.below(30); n-- > 0;) html += random.choice(kBits);
    std::size_t end = 0;
    for (const MarkupToken& token : html_tokens(html, {})) {
      ASSERT_EQ(token.source.begin, end) << html;
      end = token.source.end;
    }
    ASSERT_EQ(end, html.size()) << html;
    expect_whole(parse_html(html), random);
    ASSERT_FALSE(HasFatalFailure()) << html;
  }
}

// ---- elements that have no word of the translation ----------------------------------------------

/// "one two three", of which "two" has no translation.
AlignedText without_second_word(std::string_view) {
  return {.text = "eins drei",
          .words = {{.place = {0, 4}, .links = {{0, 1}}}, {.place = {5, 9}, .links = {{2, 1}}}}};
}

std::string with_own_texts(const MarkupDocument& document, const std::string& text) {
  std::vector<AlignedText> translations;
  for (const Passage& passage : document.passages)
    translations.push_back(without_second_word(passage.text));
  ElementTexts elements;
  for (const LostElement& lost : lost_elements(document, translations)) {
    EXPECT_EQ(text_of(document, lost), "two");
    elements[lost] = text;
  }
  return translated_document(document, translations, elements).bytes;
}

TEST(LostElements, LostElementsGetTheirOwnTranslations) {
  EXPECT_EQ(with_own_texts(parse_html("<p>one <b>two</b> three</p>"), "a & b"),
            "<p>eins <b>a &amp; b</b> drei</p>");
  EXPECT_EQ(with_own_texts(parse_xml("<p>one<x id='1'> two </x>three</p>"), "zwei"),
            "<p>eins <x id='1'>zwei</x> drei</p>");
  EXPECT_EQ(with_own_texts(parse_html("one <a><i>two</i><img></a> three"), "zwei"),
            "eins <a><i>zwei</i><img></a> drei")
      << "the innermost with a text";
  EXPECT_EQ(with_own_texts(parse_po("msgid \"one <b>two</b> three\"\nmsgstr \"\"\n"), "zwei"),
            "msgid \"one <b>two</b> three\"\nmsgstr \"eins <b>zwei</b> drei\"\n");
  const std::string cue = "WEBVTT\n\n00:01.000 --> 00:02.500\n";
  EXPECT_EQ(with_own_texts(parse_vtt(cue + "one <i>two</i> three"), "zwei"),
            cue + "eins <i>zwei</i> drei");
}

TEST(LostElements, ATextWithoutATranslationStays) {
  EXPECT_EQ(with_own_texts(parse_html("<p>one <b>two</b> three</p>"), " "),
            "<p>eins <b>two</b> drei</p>");
}

TEST(LostElements, SignsAreATextToo) {
  const MarkupDocument document = parse_html("one <a>\u00A7</a> three");
  const std::vector<AlignedText> translations = {without_second_word("")};
  const std::vector<LostElement> lost = lost_elements(document, translations);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(text_of(document, lost[0]), "\u00A7");
}

TEST(LostElements, AnElementWithTextOfTheTranslationIsNotLost) {
  for (const std::string html : {"one two <b>three</b>", "one <code>two</code> three",
                                 "<b>one two three</b>", "one <b></b> two three"})
    EXPECT_TRUE(lost_elements(parse_html(html), std::vector{without_second_word("")}).empty())
        << html;
  EXPECT_TRUE(
      lost_elements(parse_markdown("one **two** three"), std::vector{without_second_word("")})
          .empty())
      << "Markdown leaves out such marks";
}

TEST(LostElements, NoElementIsWithoutTextInAnyTranslation) {
  RandomStream random(1, 7);
  for (int n = 0; n < 300; ++n) {
    std::string html;
    int open = 0;
    for (int i = 0; i < 12; ++i) {
      if (random.chance(0.4)) html += join_text("<b id=", ++open, '>');
      html += join_text(" w", i, random.chance(0.5) ? " " : "");
      if (open > 0 && random.chance(0.4)) html += "</b>", --open;
    }
    while (open-- > 0) html += "</b>";
    const MarkupDocument document = parse_html(html);
    const std::vector<AlignedText> translations = {
        random_translation(document.passages.at(0).text, random)};
    ElementTexts elements;
    for (const LostElement& lost : lost_elements(document, translations))
      elements[lost] = text_of(document, lost);
    const std::string written = translated_document(document, translations, elements).bytes;
    const std::regex without_text("<b id=[0-9]+></b>");
    EXPECT_FALSE(std::regex_search(written, without_text)) << html << '\n' << written;
  }
}

}  // namespace
}  // namespace dragoman
