#include "inference/place_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

PreparedPart part_of(const std::string& source) {
  CharacterSet seen;
  seen.add_all("one two three Four five. six, XYZ(!)");
  PreparedPart part;
  part.text.text = source;
  part.unseen = unseen_text(source, seen);
  part.marked = MarkedText(source, part.unseen.changes);
  part.pieces = tokenizer().encode_with_offsets(part.marked.text());
  return part;
}

/// The word of each piece.
std::vector<std::size_t> words_of(const std::vector<TokenId>& tokens) {
  std::vector<std::size_t> words;
  for (const TokenId token : tokens)
    words.push_back(words.empty() ? 0
                                  : words.back() + (tokenizer().piece(token).starts_with("\u2581")
                                                        ? std::size_t{1}
                                                        : std::size_t{0}));
  return words;
}

/// The translation with its copies. Word i of `text` looks at word `sources[i]` of the text that is
/// read.
std::string placed(const std::string& source, const std::string& text,
                   const std::vector<std::size_t>& sources) {
  const PreparedPart part = part_of(source);
  std::vector<TokenId> read;
  for (const PieceSpan& piece : part.pieces) read.push_back(piece.id);
  Hypothesis hypothesis{.tokens = tokenizer().encode(text),
                        .length = 0,
                        .sum = 0,
                        .coverage_penalty = 0,
                        .score = 0,
                        .cut = false,
                        .log_probabilities = {},
                        .attention = {}};
  for (const std::size_t word : words_of(hypothesis.tokens)) {
    for (const std::size_t other : words_of(read))
      hypothesis.attention.push_back(sources.at(word) == other ? 1.0F : 0.01F);
    hypothesis.attention.push_back(0);  // </s>
  }
  std::string all;
  for (const WrittenUnit& unit : place_copies(part, hypothesis, tokenizer())) all += unit.text;
  return all;
}

TEST(PlaceCopies, AWordTakesThePlaceOfItsStandIn) {
  EXPECT_EQ(placed("one \u041C\u043E two", "two, X one", {2, 1, 0}), "two, \u041C\u043E one");
  EXPECT_EQ(placed("one \u041C\u043E two", "one (X) two", {0, 1, 2}), "one (\u041C\u043E) two");
  EXPECT_EQ(placed("one \u041C\u043E two", "Xs two", {0, 1}), "\u041C\u043Es two");
  EXPECT_EQ(placed("\u041C one \u0391", "Y X", {2, 0}), "\u0391 \u041C") << "each its own";
}

TEST(PlaceCopies, AWordTakesThePlaceOfTheWordThatLooksAtItsStandIn) {
  EXPECT_EQ(placed("one \u041C\u043E two", "two three, one", {2, 1, 0}), "two \u041C\u043E, one");
  EXPECT_EQ(placed("one \u041C\u043E two", "two one", {2, 0}), "two one \u041C\u043E")
      << "no word looks at it most: it stands behind its neighbour";
  EXPECT_EQ(placed("\u041C\u043E two", "one three, two", {0, 0, 1}), "\u041C\u043E, two")
      << "and of its article";
}

TEST(PlaceCopies, WhatTouchesAStandInStays) {
  EXPECT_EQ(placed("one \u041C\u043E two", "one (X)six two", {0, 1, 2}),
            "one (\u041C\u043E)six two");
  EXPECT_EQ(placed("\u041C one \u0391", "one (X)Y", {1, 0}), "one (\u041C)\u0391");
}

TEST(PlaceCopies, ASignStandsBehindTheTranslationOfTheWordBeforeIt) {
  EXPECT_EQ(placed("one \U0001F355 two three", "three one two", {2, 0, 1}),
            "three one \U0001F355 two");
  EXPECT_EQ(placed("one \U0001F355, two", "one, two", {0, 1}), "one \U0001F355, two");
  EXPECT_EQ(placed("six, \U0001F355 two", "two six, one", {1, 0, 1}), "two six, \U0001F355 one");
  EXPECT_EQ(placed("one\u2074 two", "two one", {1, 0}), "two one\u2074") << "no blank was there";
  EXPECT_EQ(placed("one \U0001F355 \U0001F354 two", "one two", {0, 1}),
            "one \U0001F355 \U0001F354 two");
}

TEST(PlaceCopies, ASignThatTouchesTheNextWordStandsBeforeIt) {
  EXPECT_EQ(placed("one \u20ACtwo three", "three two one", {2, 1, 0}), "three \u20ACtwo one");
  EXPECT_EQ(placed("\u00BFone two", "two one", {1, 0}), "\u00BFtwo one") << "at the start";
}

TEST(PlaceCopies, SignsAtTheEndsStayThere) {
  EXPECT_EQ(placed("\U0001F355 one two", "two one", {1, 0}), "\U0001F355 two one");
  EXPECT_EQ(placed("one two. \U0001F355", "two one.", {1, 0}), "two one. \U0001F355");
  EXPECT_EQ(placed("one two \U0001F355!", "two one!", {1, 0}), "two one \U0001F355!");
  EXPECT_EQ(placed("one two\U0001F355", "two", {1}), "two\U0001F355");
}

TEST(PlaceCopies, NothingIsLostWithoutAttentionOrTranslation) {
  const std::string source = "one \u041C \U0001F355 two";
  const PreparedPart part = part_of(source);
  Hypothesis hypothesis{.tokens = tokenizer().encode("one three two"),
                        .length = 0,
                        .sum = 0,
                        .coverage_penalty = 0,
                        .score = 0,
                        .cut = false,
                        .log_probabilities = {},
                        .attention = {}};
  for (const char* expected : {"one three two \u041C \U0001F355", "\u041C \U0001F355"}) {
    std::string all;
    std::vector<std::size_t> copies;
    for (const WrittenUnit& unit : place_copies(part, hypothesis, tokenizer())) {
      all += unit.text;
      if (unit.copy) copies.push_back(*unit.copy);
    }
    EXPECT_EQ(all, expected);
    EXPECT_THAT(copies, ElementsAre(0, 1));
    hypothesis.tokens.clear();
  }
}

}  // namespace
}  // namespace dragoman
