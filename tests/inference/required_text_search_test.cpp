#include "inference/required_text_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/prepared_requests.h"

namespace dragoman {
namespace {

using testing::IsEmpty;

TEST(RequiredTextSearch, AMissingTermIsSearchedForOnce) {
  PreparedLine line(3, request({.beam_size = 2}, {.terms = terms("two", "six")}));
  ASSERT_EQ(preparer().prepare({"one two three"}, line).size(), 1u);
  const auto again = required_texts().keep_or_search_again(line, 0, {hypothesis("one two three")});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->line, 3);
  EXPECT_EQ(again->tokens, with_end("one two three"));
  EXPECT_EQ(again->required.phrases.count(), 1);
  EXPECT_TRUE(again->needs_attention);
  EXPECT_FALSE(required_texts().keep_or_search_again(line, 0, {hypothesis("one six three")}));
  EXPECT_EQ(line.parts[0].hypotheses[0].tokens, tokenizer().encode("one six three"));
  EXPECT_THAT(line.parts[0].unmet, IsEmpty());
}

TEST(RequiredTextSearch, ATermThatIsMuchLongerThanASentenceIsNotSearchedFor) {
  std::string six;
  for (std::size_t i = 0; i < 2 * kMostTermPieces; ++i) six += "six ";
  const Terms both({{"two", six}, {"three", "five"}});
  for (const auto& [text, searched] : {std::pair("one two", 0), std::pair("one two three", 1)}) {
    PreparedLine line(0, request({}, {.terms = both}));
    preparer().prepare({text}, line);
    const auto again = required_texts().keep_or_search_again(line, 0, {hypothesis("one")});
    ASSERT_EQ(again.has_value(), searched > 0) << text;
    if (again) {
      EXPECT_EQ(again->required.phrases.count(), 1);
    }
    EXPECT_THAT(line.parts[0].unmet, testing::SizeIs(1 + searched)) << "the long one is reported";
  }
}

TEST(RequiredTextSearch, ASecondTranslationThatIsNoBetterIsNotTaken) {
  PreparedLine line(0, request({}, {.terms = terms("two", "six")}));
  preparer().prepare({"one two three"}, line);
  ASSERT_TRUE(required_texts().keep_or_search_again(line, 0, {hypothesis("one two three")}));
  EXPECT_FALSE(required_texts().keep_or_search_again(line, 0, {hypothesis("three three")}));
  EXPECT_EQ(line.parts[0].hypotheses[0].tokens, tokenizer().encode("one two three"));
  EXPECT_THAT(line.parts[0].unmet, testing::SizeIs(1));
}

TEST(RequiredTextSearch, ALineThatHasAllItsTermsIsNotSearchedAgain) {
  PreparedLine line(0, request({}, {.terms = terms("two", "six")}));
  preparer().prepare({"one two three"}, line);
  EXPECT_FALSE(required_texts().keep_or_search_again(line, 0, {hypothesis("one six three")}));
}

}  // namespace
}  // namespace dragoman
