#include "extras/markup/place_tags.h"

#include <gtest/gtest.h>

#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.h"
#include "extras/markup/fragment_links.h"
#include "extras/markup/markup_formats.h"
#include "tests/extras/markup/word_translators.h"

namespace dragoman {
namespace {

TEST(FragmentSearch, ATextIsFoundWhereFragmentsBegin) {
  for (int i = 0; i < 300; ++i) {
    RandomStream random(7, i);
    std::string text;
    while (text.size() < 400) text += random.choice(std::vector<std::string>{"a", "aa", " ", ".b"});
    const std::vector<WordFragment> fragments = fragments_of(text, words_between_spaces(text));
    std::vector<std::size_t> all(fragments.size());
    std::iota(all.begin(), all.end(), 0);
    const FragmentSearch search(text, fragments, all);
    const std::string wanted =
        text.substr(random.below(text.size()), random.below(FragmentSearch::kCompared + 50) + 1);
    std::vector<std::size_t> expected;
    for (const std::size_t place : all)
      if (std::string_view(text).substr(fragments[place].place.begin).starts_with(wanted))
        expected.push_back(place);
    EXPECT_EQ(search.places_of(wanted), expected) << wanted;
  }
}

/// The HTML with the words of its text in reverse order and no alignment.
std::string reversed_without_alignment(const std::string& html) {
  return translated(parse_html(html),
                    [](std::string_view text) { return AlignedText{.text = reversed(text).text}; });
}

TEST(PlaceTags, KeptTextsAreFoundInTheTranslationTheLongestFirst) {
  const std::string html = "see <code>x</code> and <code>x.y</code> or <code>x</code> there";
  EXPECT_EQ(reversed_without_alignment(html),
            "there <code>x</code> or <code>x.y</code> and <code>x</code> see");
  EXPECT_EQ(reversed_without_alignment("see <code>x</code> and <code>x.y</code>"),
            "<code>x.y</code> and <code>x</code> see");
  EXPECT_EQ(reversed_without_alignment("<b>a <code>x</code></b> b"), "<b>b <code>x</code></b> a");
}

TEST(PlaceTags, AKeptTextIsFoundWhereItTouchesLetters) {
  for (const std::string html :
       {"save <code>10</code>MB", "10<span translate=\"no\">km</span>", "the <code>foo</code>s end",
        "re<code>start</code> it", "\u4F7F\u7528<code>foo</code>\u547D\u4EE4\u3002"})
    EXPECT_EQ(translated(parse_html(html), in_order), html);
  // Only if it touches letters in the source, too.
  EXPECT_EQ(reversed_without_alignment("start <code>art</code> it"), "it <code>art</code> start");
}

TEST(PlaceTags, ElementsStandBetweenCharactersOfAScriptWithoutBlanks) {
  const std::string html =
      "\u4F7F\u7528<b>foo</b>\u547D\u4EE4\u548C<i>\u91CD\u8981</i>\u7684\u3002";
  EXPECT_EQ(translated(parse_html(html), in_order), html);
}

TEST(PlaceTags, ABlankStandsBetweenKeptTextsAndWords) {
  const auto placed = [](const std::string& html, std::size_t word_of_zwei) {
    const AlignedText translation{.text = "eins zwei.",
                                  .words = {{{0, 4}, {{0, 1}}}, {{5, 9}, {{word_of_zwei, 1}}}}};
    return translated(parse_html(html), [&](std::string_view) { return translation; });
  };
  EXPECT_EQ(placed("one <code>a</code> <code>b</code>, two.", 3),
            "eins <code>a</code> <code>b</code> zwei.");
  EXPECT_EQ(placed("one two <code>a</code> and <code>b</code>.", 1),
            "eins zwei <code>a</code> <code>b</code>.");
}

TEST(PlaceTags, AKeptTextLeavesAWord) {
  const AlignedText all_from_first{.text = "zwei Hunde",
                                   .words = {{{0, 4}, {{0, 1}}}, {{5, 10}, {{0, 0.9}, {1, 0.1}}}}};
  const auto translate = [&](std::string_view) { return all_from_first; };
  EXPECT_EQ(translated(parse_html("<code>%d</code> dogs"), translate),
            "<code>%d</code> zwei Hunde");
}

TEST(PlaceTags, ManyKeptTextsTakeNoQuadraticTime) {
  constexpr int kTexts = 60'000;
  std::string same, others, alone;
  for (int i = 0; i < kTexts; ++i) {
    same += "a <code>x</code> ";
    others += "a <code>x" + std::to_string(i) + "</code> ";
    alone += "<b>a <code>x</code></b> ";
  }
  const std::clock_t begin = std::clock();
  for (const std::string& html : {same, others, alone})
    EXPECT_EQ(reversed_without_alignment(html).size(), html.size());
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(seconds, 5) << "the square of their number would take a minute";
}

}  // namespace
}  // namespace dragoman
