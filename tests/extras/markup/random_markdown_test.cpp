// Documents of Markdown that are made up at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "extras/markup/markdown_syntax.h"
#include "tests/extras/markup/turned_markdown.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {

namespace {

/// Every word is another one.
class RandomMarkdown {
 public:
  explicit RandomMarkdown(RandomStream& random) : random_(random) {}

  std::string document() {
    std::string text;
    for (std::uint64_t n = random_.below(4) + 1; n-- > 0;) text += block() + "\n";
    return text;
  }

  /// Words with spans.
  std::string line(int depth, const std::string& around = {}) {
    std::string text;
    for (std::uint64_t n = random_.below(4) + 1; n-- > 0;)
      text += (text.empty() ? "" : " ") + item(depth, around);
    return text;
  }

 private:
  std::string word() { return join_text("w", ++words_); }

  /// Not within another mark of the same sign, which would be text.
  std::string item(int depth, const std::string& around) {
    const std::uint64_t kind = depth == 0 ? 0 : random_.below(18);
    if (kind == 1) return "`" + word() + "`";
    if (kind == 2) return "![" + word() + "](u" + std::to_string(words_) + " 'x " + word() + "')";
    if (kind == 3) return "<http://a.b/" + word() + ">";
    if (kind == 4) return word() + "[^n" + std::to_string(words_) + "]";
    if (kind == 5) return "<i>" + line(depth - 1, around) + "</i>";
    if (kind == 6) return "[" + line(0) + "](u" + word() + ")";
    if (kind == 14) return "$" + word() + "_1$";
    if (kind == 15) return "{{" + word() + "}}";
    if (kind == 16) return ":" + word() + ":";
    if (kind == 17) return "[[" + word() + "]]";
    static const std::vector<std::string> kMarks = {"*", "**", "_", "__", "~~"};
    const std::string& mark = random_.choice(kMarks);
    if (kind < 11 || around.find(mark[0]) != std::string::npos) return word();
    return mark + word() + " " + line(depth - 1, around + mark) + " " + word() + mark;
  }

  std::string block() {
    switch (random_.below(9)) {
      case 0:
        return "## " + line(2) + "\n";
      case 5:
        return "# " + line(2) + " {#" + word() + "}\n";
      case 6:
        return line(2) + "\n| " + line(1) + " | b |\n|-|-|\n|" + line(1) + "||\n";
      case 7:
        return "$$\n" + word() + "\n$$\n\n{% " + word() + " %}\n";
      case 1:
        return "- " + line(2) + "\n  " + line(2) + "\n1. " + line(2) + "\n";
      case 2:
        return "> " + line(2) + "\n> " + line(1) + "\n";
      case 3:
        return "| " + line(2) + " | " + line(1) + "|\n|-|:-:|\n|" + line(1) + "||\n";
      case 4:
        return "```\n" + word() + "\n```\n";
      default:
        return line(3) + "\n" + line(2) + "\n";
    }
  }

  RandomStream& random_;
  int words_ = 0;
};

std::string name_of(MarkdownSpan span) { return "span " + std::to_string(static_cast<int>(span)); }

/// The spans of all blocks, and how many lines and rows there are.
std::map<std::string, int> counted_spans(const std::string& markdown) {
  std::map<std::string, int> counts;
  for (const MarkdownBlock& block : markdown_blocks(masked_markdown(markdown).text)) {
    ++counts[block.is_cell ? "cells" : "blocks"];
    for (const MarkdownEvent& event : block.events)
      if (event.kind == MarkdownEvent::Kind::Opens) ++counts[name_of(event.span)];
  }
  for (const char* mark : {"<i>", "</i>", "[^n", "](u", "\n", "```", "http://a.b/w", "$w", "{{ w",
                           " }}", ":w", "[[w", "{#w", "$$\n", "{% w"})
    for (std::size_t at = markdown.find(mark); at != std::string::npos;
         at = markdown.find(mark, at + 1))
      ++counts[mark];
  return counts;
}

/// Without blanks, escapes, and line ends with the marks of quotes, which may move.
std::string without_lines(std::string text) {
  std::erase_if(text,
                [](char c) { return std::string_view(" \n\\>").find(c) != std::string::npos; });
  return text;
}

constexpr int kDocuments = 5'000;

TEST(RandomMarkdownDocuments, NoMarkIsLostOrDoubled) {
  for (int i = 0; i < kDocuments; ++i) {
    RandomStream random(4, i);
    const std::string markdown = RandomMarkdown(random).document();
    for (const std::string& result : {turned(markdown), same(markdown)})
      ASSERT_EQ(counted_spans(result), counted_spans(markdown)) << markdown << "\n->\n" << result;
    ASSERT_EQ(without_lines(same(markdown)), without_lines(markdown));
  }
}

TEST(RandomMarkdownDocuments, NoCodeAndNoLinkIsLostInAnyTranslation) {
  for (int i = 0; i < kDocuments / 4; ++i) {
    RandomStream random(7, i);
    const std::string markdown = RandomMarkdown(random).document();
    const std::string result = translated(parse_markdown(markdown), [&](std::string_view text) {
      return random_translation(text, random);
    });
    std::map<std::string, int> expected = counted_spans(markdown), counts = counted_spans(result);
    for (const MarkdownSpan span : {MarkdownSpan::Code, MarkdownSpan::Link, MarkdownSpan::Image})
      ASSERT_EQ(counts[name_of(span)], expected[name_of(span)]) << markdown << "\n->\n" << result;
  }
}

TEST(RandomMarkdownDocuments, AnyTranslationKeepsBlocksAndCells) {
  for (int i = 0; i < kDocuments / 2; ++i) {
    RandomStream random(10, i);
    const std::string markdown = RandomMarkdown(random).document();
    const std::string result = translated(parse_markdown(markdown), [&](std::string_view text) {
      AlignedText any = adversarial_translation(text, random);
      any.text = "eins" + any.text + "eins";  // a paragraph without text is not one
      for (AlignedWord& word : any.words) word.place.begin += 4, word.place.end += 4;
      return any;
    });
    std::map<std::string, int> expected = counted_spans(markdown), counts = counted_spans(result);
    for (const char* blocks : {"blocks", "cells"})
      ASSERT_EQ(counts[blocks], expected[blocks]) << markdown << "\n->\n" << result;
  }
}

TEST(RandomMarkdownDocuments, NoTranslationChangesTheStructure) {
  std::size_t passages = 0, untranslated = 0;
  for (int i = 0; i < kDocuments / 2; ++i) {
    RandomStream random(11, i);
    const MarkupDocument document = parse_markdown(RandomMarkdown(random).document());
    std::vector<AlignedText> translations;
    for (const Passage& passage : document.passages)
      translations.push_back(adversarial_translation(passage.text, random));
    const TranslatedDocument result = translated_document(document, translations);
    ASSERT_EQ(markdown_structure(result.bytes), markdown_structure(document.bytes))
        << document.bytes << "\n->\n"
        << result.bytes;
    passages += document.passages.size();
    untranslated += result.untranslated;
  }
  EXPECT_LT(untranslated, passages / 200) << "of " << passages;
}

TEST(RandomMarkdownDocuments, WithoutItsMarksATextIsItsTranslation) {
  for (int i = 0; i < kDocuments; ++i) {
    RandomStream random(5, i);
    const std::string markdown = RandomMarkdown(random).line(3);
    if (texts_of(markdown).empty()) continue;
    const std::string result = turned(markdown);
    // The texts of images and titles are passages of their own.
    if (markdown.find("![") != std::string::npos) continue;
    ASSERT_FALSE(texts_of(result).empty()) << markdown << "\n->\n" << result;
    ASSERT_EQ(texts_of(result).at(0), reversed(texts_of(markdown).at(0)).text)
        << markdown << "\n->\n"
        << result;
  }
}

TEST(RandomMarkdownDocuments, BytesThatAreNotMarkdownDoNoHarm) {
  static const std::vector<std::string> kBits = {
      "*",       "**",     "_",        "`",           "``",
      "[",       "]",      "(",        ")",           "!",
      "<",       ">",      "|",        "-",           "\n",
      "\n\n",    "    ",   "one ",     "two",         "\\",
      "&amp;",   "~~",     "# ",       "> ",          "- ",
      "1.",      "```\n",  "---\n",    "|-|\n",       "[^1]",
      "[^1]:",   "\r\n",   "\t",       "<b>",         "</b>",
      "u \"t\"", "](u)",   "[a]: u\n", "http://a.b ", "<!-- ",
      "-->",     "\u00E9", "  \n",     ":-",          std::string(1, '\0')};
  for (int i = 0; i < 4 * kDocuments; ++i) {
    RandomStream random(6, i);
    std::string markdown;
    for (std::uint64_t n = random.below(30); n-- > 0;) markdown += random.choice(kBits);
    const MarkupDocument document = parse_markdown(markdown);
    std::size_t end = 0;
    for (const Passage& passage : document.passages) {
      ASSERT_LE(passage.source.end, document.bytes.size()) << markdown;
      for (const InlineTag& tag : passage.tags) {
        ASSERT_LE(std::max(end, passage.source.begin), tag.source.begin) << markdown;
        ASSERT_LE(tag.source.end, passage.source.end) << markdown;
        end = tag.source.end;
      }
    }
    translated(document, [&](std::string_view text) { return random_translation(text, random); });
    if (document.passages.empty()) {
      ASSERT_EQ(turned(markdown), markdown);
    }
  }
}

}  // namespace

}  // namespace dragoman
