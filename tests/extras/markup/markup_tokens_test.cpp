#include "extras/markup/markup_tokens.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "base/error.h"
#include "tests/repeated.h"

namespace dragoman {
namespace {

double seconds_since(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

TEST(TextTokens, ATagAPositionOrAPlaceholderEndsBeforeTheNextBegins) {
  const auto kept = [](std::string_view text, AlsoKept also) {
    std::string all;
    for (const MarkupToken& token : text_tokens(text, also))
      if (token.kind != MarkupToken::Kind::Text) all += join_text("[", token.source.of(text), "]");
    return all;
  };
  EXPECT_EQ(kept("{\\an8}one {\\pos(1,2) {\\an8}", AlsoKept::Positions), "[{\\an8}][{\\an8}]");
  EXPECT_EQ(kept("%(name)s %(one %(two)s", AlsoKept::Placeholders), "[%(name)s][%(two)s]");
  EXPECT_EQ(kept("<b <i>", AlsoKept::Positions), "[<i>]");
}

TEST(TextTokens, TokensAreFoundInTheTimeThatTheLengthOfTheTextSays) {
  const std::clock_t begin = std::clock();
  for (const char* text : {"%(", "{\\", "<a ", "</", "{{", "${", "%1", "%-", "{a ", "%(a)"})
    for (const AlsoKept also : {AlsoKept::Positions, AlsoKept::Placeholders})
      EXPECT_EQ(text_tokens(repeated(text, 1'000'000), also).size(), 1u) << text;
  EXPECT_LT(seconds_since(begin), 5) << "the square of the length would take a minute";
}

TEST(TextTokens, PartnersAreFoundInTheTimeThatTheirNumberSays) {
  constexpr int kTags = 100'000;
  const std::clock_t begin = std::clock();
  for (const auto& [open, close] : {std::pair("<a>", "</b>"), std::pair("<a>", "</a>")}) {
    const std::string text = repeated(open, kTags) + "one" + repeated(close, kTags);
    const auto passages =
        passages_of(text, text_tokens(text, AlsoKept::Positions), Writing::SrtText);
    ASSERT_EQ(passages.size(), 1u);
    EXPECT_EQ(passages[0].text, "one");
  }
  std::string mixed;
  for (int i = 0; i < kTags; ++i)
    mixed += "<a" + std::to_string(i) + ">x</b" + std::to_string(i) + ">";
  const auto passages =
      passages_of(mixed, text_tokens(mixed, AlsoKept::Positions), Writing::SrtText);
  ASSERT_EQ(passages.size(), 1u);
  EXPECT_EQ(passages[0].tags.size(), 2u * kTags - 2) << "the first and last stand around the text";
  EXPECT_LT(seconds_since(begin), 5) << "the square of their number would take a minute";
}

TEST(TextTokens, AnElementEndsWithTheOneAroundIt) {
  const std::string text = "x <a><b><a>y</a> </a></b> z";
  const auto passages = passages_of(text, text_tokens(text, AlsoKept::Positions), Writing::SrtText);
  ASSERT_EQ(passages.size(), 1u);
  const std::vector<InlineTag>& tags = passages[0].tags;
  ASSERT_EQ(tags.size(), 6u);
  EXPECT_EQ(tags[0].partner, 4u);
  EXPECT_EQ(tags[1].partner, InlineTag::kNone) << "<b> ends with <a>";
  EXPECT_EQ(tags[2].partner, 3u);
  EXPECT_EQ(tags[5].partner, InlineTag::kNone);
}

}  // namespace
}  // namespace dragoman
