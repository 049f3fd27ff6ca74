#include "inference/make_phrases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

/// A translation of as many words as the source, each of which attends to the word in its place.
Hypothesis in_order(const std::string& source, const std::string& text) {
  const auto source_pieces = tokenizer().encode_with_offsets(source);
  Hypothesis hypothesis{.tokens = tokenizer().encode(text),
                        .length = 0,
                        .sum = 0,
                        .coverage_penalty = 0,
                        .score = 0,
                        .cut = false,
                        .log_probabilities = {},
                        .attention = {}};
  const auto words_of = [](const std::vector<std::string>& pieces) {
    std::vector<int> words;
    for (const std::string& piece : pieces)
      words.push_back((words.empty() ? -1 : words.back()) + (piece.starts_with("\u2581") ? 1 : 0));
    return words;
  };
  const auto ours = words_of(tokenizer().pieces(source)),
             theirs = words_of(tokenizer().pieces(text));
  for (const int word : theirs) {
    for (const int other : ours) hypothesis.attention.push_back(word == other ? 1.0F : 0.01F);
    hypothesis.attention.push_back(0);  // </s>
  }
  return hypothesis;
}

/// The translation with `term` for the word `word` of the source.
std::string replaced(const std::string& source, const std::string& text,
                     const std::vector<std::pair<std::string, std::string>>& terms) {
  const Hypothesis hypothesis = in_order(source, text);
  std::vector<RequiredText> texts;
  for (const auto& [word, term] : terms)
    texts.push_back({source.find(word), source.find(word) + word.size(), term});
  const RequiredPhrases phrases = phrases_of(texts, source, hypothesis, tokenizer(), tokenizer());
  return tokenizer().decode(with_words_replaced(texts, phrases, hypothesis, tokenizer()));
}

TEST(WithWordsReplaced, ATermTakesThePlaceOfItsWord) {
  EXPECT_EQ(replaced("one two three", "one six three", {{"two", "five"}}), "one five three");
  EXPECT_EQ(replaced("one two three", "one six three", {{"three", "five five"}}),
            "one six five five");
}

TEST(WithWordsReplaced, StopsStayAndTheFirstWordKeepsItsCapital) {
  EXPECT_EQ(replaced("one two three.", "one two five.", {{"three", "six"}}), "one two six.");
  EXPECT_EQ(replaced("one two", "Four two", {{"one", "three"}}), "Three two");
}

TEST(WithWordsReplaced, SeveralTermsAndEachWordOnce) {
  EXPECT_EQ(replaced("one two three", "one six five", {{"three", "one"}, {"one", "two"}}),
            "two six one");
  EXPECT_EQ(replaced("one two three", "one six five", {{"two", "one"}, {"two", "three"}}),
            "one one five");
}

TEST(WithWordsReplaced, NothingIsMadeWithoutAttentionOrAWord) {
  EXPECT_EQ(replaced("one two", "one .", {{"two", "six"}}), "");
  Hypothesis hypothesis = in_order("one two", "one two");
  const std::vector<RequiredText> texts = {{0, 3, "six"}};
  const RequiredPhrases phrases =
      phrases_of(texts, "one two", hypothesis, tokenizer(), tokenizer());
  hypothesis.attention.clear();
  EXPECT_TRUE(with_words_replaced(texts, phrases, hypothesis, tokenizer()).empty());
}

}  // namespace
}  // namespace dragoman
