#include "tokenizer/term_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tokenizer/sample_text.h"

namespace dragoman {
namespace {

const std::vector<RequiredText> kTerms = {{4, 7, "Hund", true}, {12, 15, "Katze", true}};

TEST(TermMarks, TermsAreWrittenBehindTheirSources) {
  EXPECT_EQ(MarkedText("the dog, a cat.").text(), "the dog, a cat.");
  EXPECT_EQ(MarkedText("the dog and cat.", marks_of(kTerms)).text(),
            "the dog<term> Hund</term> and cat<term> Katze</term>.");
}

TEST(TermMarks, OffsetsAreFoundInBothTexts) {
  const std::string text = "the dog and cat.";
  const MarkedText marked(text, marks_of(kTerms));
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

TEST(TermMarks, ATextIsReadWithOtherChanges) {
  const std::string text = "ab\u00E9 cd, ef";
  const std::vector<TextChange> changes = {
      {2, 4, "e"}, {5, 7, ""}, {9, 11, "gh ij"}, {11, 11, "!"}};
  const MarkedText marked(text, changes);
  EXPECT_EQ(marked.text(), "abe , gh ij!");
  for (const std::size_t original : {0, 1, 2, 4, 7, 8, 9, 11})
    EXPECT_EQ(marked.original_offset(marked.marked_offset(original)), original) << original;
  EXPECT_EQ(marked.marked_offset(5), 4u);
  EXPECT_EQ(marked.original_offset(4), 7u) << "what was left out has no byte";
  for (const std::size_t offset : {6, 8, 10}) EXPECT_EQ(marked.original_offset(offset), 9u);
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
