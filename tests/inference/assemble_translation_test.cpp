#include "inference/assemble_translation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/inference/copying_model.h"

namespace dragoman {
namespace {

using testing::ElementsAre;

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
  Hypothesis found{.tokens = tokenizer().encode(text),
                   .length = 0,
                   .sum = sum,
                   .coverage_penalty = 0,
                   .score = 0,
                   .cut = false,
                   .log_probabilities = {},
                   .attention = {}};
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

TEST(AssembleTranslation, TextsThatAreLackingOrCutAreTold) {
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
    const float first = t + 1 < count ? 0.75F : 0;  // the last piece looks at the other word
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

TEST(AssembleTranslation, TheBestAloneHasWordsWhereNoOthersAreAskedFor) {
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
