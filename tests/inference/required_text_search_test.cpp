#include "inference/required_text_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/copying_model.h"
#include "tests/inference/prepared_requests.h"

namespace dragoman {
namespace {

using testing::IsEmpty;

/// A translation of as many words as the source, each of which attends to the word in its place.
Hypothesis in_order(const std::string& source, const std::string& text) {
  const auto source_pieces = tokenizer().encode_with_offsets(source);
  Hypothesis hypothesis{.tokens = tokenizer().encode(text)};
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
                     const std::vector<std::pair<std::string, std::string>>& terms,
                     bool inflects = true) {
  const Hypothesis hypothesis = in_order(source, text);
  std::vector<RequiredText> texts;
  for (const auto& [word, term] : terms)
    texts.push_back({source.find(word), source.find(word) + word.size(), term, inflects});
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

TEST(WithWordsReplaced, ATextThatIsCopiedGetsNoCapital) {
  EXPECT_EQ(replaced("one two", "Four two", {{"one", "three"}}, /*inflects=*/false), "three two");
}

TEST(PhrasesOf, OnlyATermMayBeginTheSentenceWithACapital) {
  const Hypothesis hypothesis = in_order("one two", "Four two");
  for (const bool inflects : {true, false}) {
    const RequiredPhrases phrases =
        phrases_of({{0, 3, "three", inflects}}, "one two", hypothesis, tokenizer(), tokenizer());
    EXPECT_EQ(
        std::ranges::count(phrases[0].spellings, PhraseStart::Sentence, &PhraseSpelling::start),
        inflects ? 1 : 0);
  }
}

TEST(WithExactTexts, TextThatTheTokenizerWritesDifferentlyStandsAsItIs) {
  const auto exact = [](const std::string& translation, const std::vector<std::string>& texts) {
    std::vector<RequiredText> required;
    for (const std::string& text : texts) required.push_back({0, 1, text});
    return with_exact_texts(translation, required, tokenizer());
  };
  ASSERT_EQ(tokenizer().decode(tokenizer().encode("m\u00B2")), "m2") << "by nmt_nfkc";
  EXPECT_EQ(exact("one m2 m2 xm2 m23 m2", {"m\u00B2", "m\u00B2"}),
            "one m\u00B2 m\u00B2 xm2 m23 m2");
  EXPECT_EQ(exact("m2", {"m\u00B2", "m2"}), "m2") << "cannot be told from the other text";
  EXPECT_EQ(exact("1 000 two", {"1\u202F000"}), "1\u202F000 two");
  EXPECT_EQ(with_exact_texts("m2", {{0, 1, "m\u00B2", true}}, tokenizer()), "m2") << "a term";
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
