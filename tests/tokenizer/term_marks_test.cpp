#include "tokenizer/term_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

const std::vector<RequiredText> kTerms = {{4, 7, "Hund", true}, {12, 15, "Katze", true}};

TEST(TermMarks, TermsAreWrittenBehindTheirSources) {
  EXPECT_EQ(MarkedText("the dog, a cat.").text(), "the dog, a cat.");
  EXPECT_EQ(MarkedText("the dog and cat.", kTerms).text(),
            "the dog<term> Hund</term> and cat<term> Katze</term>.");
}

TEST(TermMarks, OffsetsAreFoundInBothTexts) {
  const std::string text = "the dog and cat.";
  const MarkedText marked(text, kTerms);
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_EQ(marked.text()[marked.marked_offset(i)], text[i]) << i;
    EXPECT_EQ(marked.original_offset(marked.marked_offset(i)), i);
  }
  EXPECT_EQ(marked.marked_offset(text.size()), marked.text().size());
  EXPECT_EQ(marked.text().substr(marked.marked_offset(4),
                                 marked.marked_offset(7) - marked.marked_offset(4)),
            "dog<term> Hund</term>");
  EXPECT_EQ(marked.original_offset(marked.text().find("Hund")), 6u);
  EXPECT_EQ(marked.original_offset(marked.text().find("Katze")), 14u);
}

TEST(TermMarks, MarksArePiecesAndLeaveTheOtherWordsUnchanged) {
  TokenizerConfig config{.vocab_size = 300};
  EXPECT_FALSE(has_term_marks(train_on(sample_text(300), config)));
  config.user_symbols = {std::string(kTermBegins), std::string(kTermEnds)};
  const Tokenizer tokenizer = train_on(sample_text(300), config);
  ASSERT_TRUE(has_term_marks(tokenizer));
  std::vector<TokenId> expected = tokenizer.encode("the dog");
  expected.push_back(tokenizer.id(kTermBegins));
  for (const TokenId id : tokenizer.encode("house")) expected.push_back(id);
  expected.push_back(tokenizer.id(kTermEnds));
  for (const TokenId id : tokenizer.encode("sees")) expected.push_back(id);
  EXPECT_EQ(tokenizer.encode("the dog<term> house</term> sees"), expected);
}

}  // namespace
}  // namespace dragoman
