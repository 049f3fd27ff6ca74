#include "extras/server/request_texts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/json.h"
#include "base/random.h"
#include "tests/extras/server/table_server.h"

namespace dragoman {

namespace {

TEST(TextLayout, LinesStandWithoutTheWhiteSpaceAroundThem) {
  const TextLayout layout = take_apart("\n  One.  Two. \r\n\r\n\tThree\u00a0\n", LineBreaks::Kept);
  EXPECT_EQ(layout.lines, (std::vector<std::string>{"One.  Two.", "Three"}));
  EXPECT_EQ(layout.around, (std::vector<std::string>{"\n  ", " \r\n\r\n\t", "\u00a0\n"}));
  EXPECT_EQ(put_together(layout, {"1", "3"}), "\n  1 \r\n\r\n\t3\u00a0\n");
}

TEST(TextLayout, WithItsOwnLinesATextIsItself) {
  RandomStream random(5);
  const std::vector<std::string> ends = {
      "\n",   "\r",   "\v",     "\f",     "\x1C",   std::string(1, '\0'),
      "\x1D", "\x1E", "\u0085", "\u2028", "\u2029", "\x1F"};
  std::vector<std::string> parts = {"a",      "a",      "b c",    " ",    "\t",
                                    "\u2003", "\u00e4", "\uFEFF", "\r\n", "\u2027"};
  parts.insert(parts.end(), ends.begin(), ends.end());
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (std::uint64_t count = random.below(12); count > 0; --count) text += random.choice(parts);
    const TextLayout layout = take_apart(text, LineBreaks::Kept);
    EXPECT_EQ(put_together(layout, layout.lines), text);
    EXPECT_EQ(layout.around.size(), layout.lines.size() + 1);
    for (const std::string& line : layout.lines)
      for (const std::string& end : ends) EXPECT_EQ(line.find(end), std::string::npos);
  }
}

TEST(TextLayout, AByteOrderMarkAtTheBeginningIsNotPartOfALine) {
  for (const LineBreaks breaks : {LineBreaks::Kept, LineBreaks::Blanks}) {
    const TextLayout layout = take_apart("\uFEFF One.", breaks);
    EXPECT_EQ(layout.lines, std::vector<std::string>{"One."});
    EXPECT_EQ(layout.around, (std::vector<std::string>{"\uFEFF ", ""}));
  }
}

TEST(TextLayout, LineEndsMayBeBlanks) {
  const TextLayout layout = take_apart(" one\r\ntwo\nthree\n", LineBreaks::Blanks);
  EXPECT_EQ(layout.lines, std::vector<std::string>{"one  two three"});
  EXPECT_EQ(layout.around, (std::vector<std::string>{" ", "\n"}));
  EXPECT_EQ(take_apart("one\u2028two\u0085three\vfour", LineBreaks::Blanks).lines,
            std::vector<std::string>{"one two three four"});
  EXPECT_TRUE(take_apart(" \n", LineBreaks::Blanks).lines.empty());
}

using nlohmann::json;
using testing::ElementsAre;

TEST(WordReport, WordsAreFoundInCodePointsOfBothTexts) {
  const TranslatedText translation{.text = "Der \u00e4lteste Bär, der",
                                   .words = {{"Der", 0, {0.9F, 0.1F, 0}},
                                             {"\u00e4lteste", std::log(0.25), {0, 0.8F, 0.2F}},
                                             {"Bär,", std::log(0.5), {0, 0, 0}},
                                             {"der", 0, {0.1F, 0.2F, 0.7F}}}};
  EXPECT_THAT(report_words("th\u00e9 \u00f6ld  bear", translation),
              ElementsAre(ReportedWord{{0, 3}, 1, {0, 3}}, ReportedWord{{4, 11}, 0.25, {4, 7}},
                          ReportedWord{{12, 16}, 0.5, {}}, ReportedWord{{17, 20}, 1, {9, 13}}));
}

TEST(WordReport, WithoutAttentionThereAreScoresAlone) {
  const TranslatedText translation{.text = "a b", .words = {{"a", 0}, {"lost", 0}, {"b", 0}}};
  EXPECT_THAT(report_words("x y", translation),
              ElementsAre(ReportedWord{{0, 1}, 1, {}}, ReportedWord{{2, 3}, 1, {}}));
}

TEST(WordReport, TwoModelsLinkThroughTheWordsBetweenThem) {
  const std::vector<TranslatedWord> first = {{"b1", 0, {0.25F, 0.75F}}, {"b2", 0, {1, 0}}};
  const std::vector<TranslatedWord> second = {{"c1", -1, {1, 0}}, {"c2", -2, {0.5F, 0.5F}}};
  const auto linked = through_pivot(first, second);
  EXPECT_THAT(linked[0].attention, ElementsAre(0.25F, 0.75F));
  EXPECT_THAT(linked[1].attention, ElementsAre(0.625F, 0.375F));
  EXPECT_EQ(linked[1].sum, -2);
  EXPECT_TRUE(through_pivot({first[0]}, second)[0].attention.empty()) << "other words";
}

TEST(WordReport, LongLinesAreLinkedInTime) {
  constexpr std::size_t kWords = 2'000;
  std::vector<TranslatedWord> first(kWords), second;
  for (std::size_t w = 0; w < kWords; ++w) {
    first[w].attention.assign(kWords, 1e-4F);
    first[w].attention[kWords - 1 - w] = 0.8F;
  }
  second = first;
  const std::clock_t begin = std::clock();
  const auto linked = through_pivot(first, second);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
  for (const std::size_t w : {std::size_t{0}, kWords / 3, kWords - 1})
    EXPECT_EQ(std::ranges::max_element(linked[w].attention) - linked[w].attention.begin(),
              static_cast<std::ptrdiff_t>(w));
}

TEST(WordReport, VeryLongLinesHaveScoresWithoutAlignment) {
  TableServer table({"fr-en", "en-de"});
  for (const std::string source : {"en", "fr"})
    for (const std::size_t words : {kMostAlignedWords, kMostAlignedWords + 1}) {
      std::string line = "one";
      for (std::size_t w = 1; w < words; ++w) line += w % 20 == 0 ? " five." : " one";
      const json answer = json_of(table.post("/translate", {{"q", line},
                                                            {"source", source},
                                                            {"target", "de"},
                                                            {"alternatives", 2},
                                                            {"alignment", true},
                                                            {"word_scores", true}}));
      EXPECT_EQ(answer["wordScores"].size(), words);
      EXPECT_EQ(answer["alignment"].size(), words > kMostAlignedWords ? 0 : words) << source;
    }
}

TEST(WordReport, AnAnswerHasAReportIfItIsAskedFor) {
  TableServer table({"fr-en", "en-de"});
  json body = {{"q", "\n one two\n\u00e9 Four"}, {"source", "en"}, {"target", "de"}};
  EXPECT_FALSE(json_of(table.post("/translate", body)).contains("alignment"));
  body["q"] = "\n one two\n three";
  body["alignment"] = true;
  const json links = {{2, 5, 2, 5}, {6, 9, 6, 9}, {11, 16, 11, 16}};
  json answer = json_of(table.post("/translate", body));
  EXPECT_EQ(answer["alignment"], links);
  EXPECT_FALSE(answer.contains("wordScores"));
  body["source"] = "fr";
  body["word_scores"] = "1";
  answer = json_of(table.post("/translate", body));
  EXPECT_EQ(answer["pivotLanguage"], "en");
  EXPECT_EQ(answer["alignment"], links);
  EXPECT_EQ(answer["wordScores"], json({{2, 5, 1.0}, {6, 9, 1.0}, {11, 16, 1.0}}));
  body["q"] = {"one", ""};
  EXPECT_EQ(json_of(table.post("/translate", body))["alignment"],
            parse_json("[[[0, 3, 0, 3]], []]"));
  body["target"] = "fr";
  EXPECT_EQ(json_of(table.post("/translate", body))["alignment"], parse_json("[[], []]"));
}

}  // namespace

}  // namespace dragoman
