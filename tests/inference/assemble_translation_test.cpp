#include "inference/assemble_translation.h"

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

/// The translation with its copies. Word i of `text` attends to word `sources[i]` of the text that
/// is read.
std::string placed(const std::string& source, const std::string& text,
                   const std::vector<std::size_t>& sources) {
  const PreparedPart part = part_of(source);
  std::vector<TokenId> read;
  for (const PieceSpan& piece : part.pieces) read.push_back(piece.id);
  Hypothesis hypothesis{.tokens = tokenizer().encode(text)};
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
      << "no word looks at it most: it stands after its neighbour";
  EXPECT_EQ(placed("\u041C\u043E two", "one three, two", {0, 0, 1}), "\u041C\u043E, two")
      << "and of its article";
}

TEST(PlaceCopies, WhatTouchesAStandInStays) {
  EXPECT_EQ(placed("one \u041C\u043E two", "one (X)six two", {0, 1, 2}),
            "one (\u041C\u043E)six two");
  EXPECT_EQ(placed("\u041C one \u0391", "one (X)Y", {1, 0}), "one (\u041C)\u0391");
}

TEST(PlaceCopies, ASignStandsAfterTheTranslationOfTheWordBeforeIt) {
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
  Hypothesis hypothesis{.tokens = tokenizer().encode("one three two")};
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

/// A line of parts that are already searched for.
class Line : public PreparedLine {
 public:
  explicit Line(bool reports = false, DecodeConfig search = {.length_penalty = 1})
      : PreparedLine(4, std::make_shared<const PreparedRequest>(
                            PreparedRequest{.settings = std::make_shared<const SearchSettings>(
                                                SearchSettings{std::move(search), {.eos = kEos}}),
                                            .demands = std::make_shared<const Demands>(),
                                            .reports_words = reports,
                                            .reports_attention = reports})) {
    facts.lines = 1;
  }

  PreparedPart& add(std::string_view source, std::string_view separator) {
    PreparedPart& part = parts.emplace_back();
    part.text = {.text = source, .separator = separator};
    return part;
  }
};

Hypothesis hypothesis(const std::string& text, double sum) {
  Hypothesis found{.tokens = tokenizer().encode(text), .sum = sum};
  found.length = static_cast<std::int64_t>(found.tokens.size()) + 1;
  found.log_probabilities.assign(found.tokens.size() + 1, -0.25F);
  return found;
}

std::vector<std::string> texts_of(const Translation& translation) {
  std::vector<std::string> texts;
  for (const TranslatedText& text : translation.n_best) texts.push_back(text.text);
  return texts;
}

TEST(AssembleTranslation, AnEmptyLineHasAnEmptyTranslation) {
  const Translation translation = assemble_translation(Line(), tokenizer());
  EXPECT_EQ(translation.line, 4);
  EXPECT_EQ(translation.n_best, std::vector<TranslatedText>{{}});
}

TEST(AssembleTranslation, PartsAreJoinedRankByRankWithTheirSpace) {
  Line line;
  line.add("a.", "\t").hypotheses = {hypothesis("one.", -1), hypothesis("two.", -2)};
  line.add("b.", "").hypotheses = {hypothesis("three", -3)};
  const Translation translation = assemble_translation(line, tokenizer());
  EXPECT_THAT(texts_of(translation), ElementsAre("one.\tthree", "two.\tthree"));
  EXPECT_DOUBLE_EQ(translation.n_best[0].sum, -4);
  const auto length =
      static_cast<double>(line.parts[0].hypotheses[0].length + line.parts[1].hypotheses[0].length);
  EXPECT_DOUBLE_EQ(translation.n_best[0].score, -4 / length) << "as of one translation";
  EXPECT_EQ(translation.facts.target_tokens, static_cast<std::int64_t>(length) - 2);
}

TEST(AssembleTranslation, TheWordsOfATranslationWithCopiesAreThoseOfItsText) {
  Line line(/*reports=*/true);
  line.text = "one \u041C \U0001F355 two. \u2713 \u2713";
  line.words = 6;
  CharacterSet seen;
  seen.add_all("onetwX. ");
  PreparedPart& part = line.add(std::string_view(line.text).substr(0, 16), " ");
  ASSERT_EQ(part.text.text, "one \u041C \U0001F355 two.");
  part.unseen = unseen_text(part.text.text, seen);
  part.unseen.copies[0].word = 1;
  part.unseen.copies[1].word = 2;
  part.marked = MarkedText(part.text.text, part.unseen.changes);
  part.pieces = tokenizer().encode_with_offsets(part.marked.text());
  part.hypotheses = {hypothesis("one X two.", -3)};
  Hypothesis& best = part.hypotheses[0];
  std::size_t word = 0;
  for (const PieceSpan& piece : part.pieces) {
    word += tokenizer().piece(piece.id).starts_with("\u2581") && !part.words.empty() ? 1 : 0;
    part.words.push_back(word == 2 ? 3 : word);
  }
  for (std::size_t t = 0; t < best.tokens.size(); ++t)
    for (std::size_t s = 0; s <= part.pieces.size(); ++s) best.attention.push_back(t == s ? 1 : 0);
  PreparedPart& all = line.add(std::string_view(line.text).substr(17), "");
  all.unseen = unseen_text(all.text.text, seen);
  ASSERT_TRUE(all.unseen.is_all);
  all.before = {"\u2713 \u2713", 17};
  const Translation translation = assemble_translation(line, tokenizer());
  EXPECT_THAT(translation.unknown, ElementsAre("\u041C", "\U0001F355", "\u2713 \u2713"));
  const TranslatedText& text = translation.n_best.front();
  EXPECT_EQ(text.text, line.text);
  std::vector<std::string> words;
  for (std::size_t w = 0; w < text.words.size(); ++w) {
    words.push_back(text.words[w].text);
    EXPECT_FLOAT_EQ(text.words[w].attention.at(w), 1) << w;
  }
  EXPECT_THAT(words, ElementsAre("one", "\u041C", "\U0001F355", "two.", "\u2713", "\u2713"));
  EXPECT_EQ(text.words[2].sum, 0);
  EXPECT_DOUBLE_EQ(text.sum, -3);
}

TEST(AssembleTranslation, TheBestComesFirstUnlessTermsWereAskedFor) {
  for (const bool asked : {false, true}) {
    Line line;
    PreparedPart& part = line.add("a", "");
    part.hypotheses = {hypothesis("one two", -9), hypothesis("two one", -1)};
    if (asked) part.searched.push_back({0, 1, "one two"});
    const Translation translation = assemble_translation(line, tokenizer());
    if (asked)
      EXPECT_THAT(texts_of(translation), ElementsAre("one two", "two one"));
    else
      EXPECT_THAT(texts_of(translation), ElementsAre("two one", "one two"));
  }
}

TEST(AssembleTranslation, TextsThatAreMissingOrCutAreReported) {
  Line line;
  line.add("a", " ").hypotheses = {hypothesis("one", -1)};
  PreparedPart& part = line.add("b", "");
  part.hypotheses = {hypothesis("two", -1)};
  part.hypotheses[0].cut = true;
  part.unmet.push_back({0, 1, "six"});
  const Translation translation = assemble_translation(line, tokenizer());
  EXPECT_THAT(translation.unmet, ElementsAre("six"));
  EXPECT_EQ(translation.facts.unmet, 1);
  EXPECT_EQ(translation.facts.cut, 1);
}

TEST(AssembleTranslation, WordsHaveTheSumsOfTheirPiecesAndTheMeanOfTheirAttention) {
  Line line(true);
  line.words = 2;
  PreparedPart& part = line.add("a b", "");
  part.words = {0, 1};
  Hypothesis found = hypothesis("Fourfive. one", -1);
  const std::size_t count = found.tokens.size();
  ASSERT_GE(count, 3u);
  for (std::size_t t = 0; t < count; ++t) {
    const float first = t + 1 < count ? 0.75F : 0;  // the last piece attends to the other word
    found.attention.insert(found.attention.end(), {first, 0.75F - first, 0.25F});
  }
  part.hypotheses = {found};
  const auto words = assemble_translation(line, tokenizer()).n_best.at(0).words;
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].text, "Fourfive.");
  EXPECT_DOUBLE_EQ(words[0].sum, -0.25 * static_cast<double>(count - 1));
  EXPECT_DOUBLE_EQ(words[1].sum, -0.25);
  EXPECT_NEAR(words[0].attention.at(0), 0.75, 1e-6);
  EXPECT_NEAR(words[0].attention.at(1), 0, 1e-6);
  EXPECT_THAT(words[1].attention, ElementsAre(0.0F, 0.75F));
}

/// The words that are reported, with blanks between them.
std::string joined_words(const TranslatedText& text) {
  std::string all;
  for (const TranslatedWord& word : text.words) all += (all.empty() ? "" : " ") + word.text;
  return all;
}

TEST(AssembleTranslation, TheWordsAreThoseOfTheTextWithItsExactTexts) {
  struct Case {
    std::string written;
    std::vector<std::string> required;
    std::string text;
  };
  // nmt_nfkc writes the narrow no-break space as a blank, and the raised digits as plain ones.
  for (const Case& each :
       {Case{"one 1 000, two", {"1\u202F000"}, "one 1\u202F000, two"},
        Case{"1 000 000", {"1\u202F000\u202F000"}, "1\u202F000\u202F000"},
        Case{"m2 one m2 two", {"m\u00B2"}, "m\u00B2 one m2 two"},
        Case{"one 104 m2. (104)",
             {"10\u2074", "m\u00B2", "10\u2074"},
             "one 10\u2074 m\u00B2. (10\u2074)"},
        Case{"one 1 000/104", {"1\u202F000/10\u2074", "10\u2074"}, "one 1\u202F000/10\u2074"}}) {
    Line line(true);
    line.words = 2;
    PreparedPart& part = line.add("a b", "");
    part.words = {0, 1};
    for (const std::string& text : each.required) part.required.push_back({0, 1, text});
    Hypothesis& found = part.hypotheses.emplace_back(hypothesis(each.written, -1));
    for (std::size_t t = 0; t < found.tokens.size(); ++t)
      found.attention.insert(found.attention.end(), {0.5F, 0.25F});
    const TranslatedText text = assemble_translation(line, tokenizer()).n_best.at(0);
    EXPECT_EQ(text.text, each.text);
    EXPECT_EQ(joined_words(text), each.text);
    double sum = 0;
    for (const TranslatedWord& word : text.words) {
      sum += word.sum;
      EXPECT_FLOAT_EQ(word.attention.at(0), 0.5F) << word.text;
      EXPECT_FLOAT_EQ(word.attention.at(1), 0.25F) << word.text;
    }
    EXPECT_DOUBLE_EQ(sum, -0.25 * static_cast<double>(found.tokens.size())) << "no piece is lost";
  }
}

TEST(AssembleTranslation, TheBestAloneHasWordsIfNoOthersAreAskedFor) {
  for (const bool alone : {false, true}) {
    Line line;
    PreparedRequest request = *line.request;
    request.reports_words = true;
    request.words_of_best_alone = alone;
    line.request = std::make_shared<const PreparedRequest>(request);
    line.add("a", "").hypotheses = {hypothesis("one two", -9), hypothesis("two one", -1)};
    const Translation translation = assemble_translation(line, tokenizer());
    EXPECT_THAT(texts_of(translation), ElementsAre("two one", "one two"));
    ASSERT_EQ(translation.n_best[0].words.size(), 2u);
    EXPECT_EQ(translation.n_best[0].words[0].text, "two") << "the best is found first";
    EXPECT_EQ(translation.n_best[1].words.size(), alone ? 0u : 2u);
  }
}

TEST(AssembleTranslation, AttentionOfASourceWithoutAnEndIsThatToItsPieces) {
  Line line(true);
  line.words = 2;
  PreparedPart& part = line.add("a b", "");
  part.words = {0, 1};
  Hypothesis found = hypothesis("one", -1);
  for (std::size_t t = 0; t < found.tokens.size(); ++t)
    found.attention.insert(found.attention.end(), {0.25F, 0.75F});
  part.hypotheses = {found};
  const auto words = assemble_translation(line, tokenizer()).n_best.at(0).words;
  ASSERT_EQ(words.size(), 1u);
  EXPECT_THAT(words[0].attention, ElementsAre(0.25F, 0.75F));
}

}  // namespace
}  // namespace dragoman
