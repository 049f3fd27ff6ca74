#include "extras/reranking/translation_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dragoman {
namespace {

TEST(ReadListed, AColumnOfScoresIsFoundFromTheEnd) {
  const auto plain = read_listed("7 ||| Ein Mann schläft. ||| F0= -2.5 ||| -0.41");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->line, 7);
  EXPECT_EQ(plain->text, "Ein Mann schläft.");
  EXPECT_EQ(plain->score, -0.41);
  const auto words =
      read_listed("0 ||| a ||| b ||| WordScores= -1 -2 ||| F0= -3 ||| -1.5 ||| 0-0 1-1");
  ASSERT_TRUE(words);
  EXPECT_EQ(words->text, "a ||| b");
  EXPECT_EQ(words->score, -1.5);
}

TEST(ReadListed, WithoutF0TheLastColumnCounts) {
  const auto moses = read_listed("3 ||| das Haus ||| LM0= -20.1 TM0= -3 ||| -7.25");
  ASSERT_TRUE(moses);
  EXPECT_EQ(moses->text, "das Haus");
  EXPECT_EQ(moses->score, -7.25);
}

TEST(ReadListed, AnEmptyTranslationIsRead) {
  const auto empty = read_listed("0 |||  ||| F0= -0.1 ||| -0.1");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->text, "");
}

TEST(ReadListed, OtherLinesAreNotRead) {
  for (const std::string line :
       {"", "Ein Mann.", "1 ||| ein", "x ||| ein ||| F0= -1 ||| -1", "1 ||| ein ||| F0= -1 ||| x",
        "1 ||| ein ||| F0= -1 ||| -inf", "1 ||| ein ||| F0= -1", "1 ||| ein ||| ||| "})
    EXPECT_FALSE(read_listed(line)) << line;
}

TranslationList list_of(const std::vector<std::pair<std::string, double>>& texts) {
  TranslationList all;
  for (const auto& [text, score] : texts) all.push_back({0, text, score});
  return all;
}

/// The number of the translation that is taken for each line.
std::vector<std::size_t> least_risks(const std::vector<TranslationList>& lines,
                                     const RiskConfig& config) {
  const std::vector<Likeness> likeness = likeness_of(lines);
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < lines.size(); ++i)
    taken.push_back(least_risk(lines[i], likeness[i], config));
  return taken;
}

std::vector<std::size_t> least_risks(const std::vector<TranslationList>& lines,
                                     double temperature) {
  return least_risks(lines, RiskConfig{.temperature = temperature});
}

TEST(LeastRisks, TheTranslationMostLikeTheOthersIsTaken) {
  const std::vector<TranslationList> lines = {list_of({{"eine Frau kocht", -1},
                                                       {"der Mann schläft", -1.1},
                                                       {"der Mann schläft", -1.2},
                                                       {"der Mann schlief", -1.3}}),
                                              list_of({{"allein", -3}})};
  EXPECT_EQ(least_risks(lines, 2), (std::vector<std::size_t>{1, 0}));
}

TEST(LeastRisks, AtALowTemperatureTheBestIsTaken) {
  const std::vector<TranslationList> lines = {
      list_of({{"der Mann schläft", -1.5}, {"der Mann schläft", -1.6}, {"eine Frau", -1}})};
  EXPECT_EQ(least_risks(lines, 0.01), std::vector<std::size_t>{2});
  EXPECT_EQ(least_risks(lines, 100), std::vector<std::size_t>{0});
}

TEST(LeastRisks, TheFirstOfEqualsIsTaken) {
  const std::vector<TranslationList> lines = {list_of({{"ja", -1}, {"ja", -1}, {"", -1}})};
  EXPECT_EQ(least_risks(lines, 2), std::vector<std::size_t>{0});
  const std::vector<TranslationList> empty = {list_of({{"", -1}, {"", -2}})};
  EXPECT_EQ(least_risks(empty, 2), std::vector<std::size_t>{0});
}

TEST(LeastRisks, TheReverseModelsScoreCountsByItsWeight) {
  TranslationList list = list_of({{"Haus", -1}, {"Baum", -1.5}});
  list[0].reverse = -3;
  list[1].reverse = -1;
  const auto taken = [&list](double weight) {
    return least_risks({list}, RiskConfig{.reverse_weight = weight, .temperature = 0.01}).front();
  };
  EXPECT_EQ(taken(0), 0u);
  EXPECT_EQ(taken(0.2), 0u) << "-1.6 and -1.7";
  EXPECT_EQ(taken(0.3), 1u) << "-1.9 and -1.8";
}

TEST(LikenessOf, EachTranslationIsComparedWithAll) {
  const std::vector<Likeness> likeness =
      likeness_of(std::vector{list_of({{"ja", -1}}), list_of({{"ja", -1}, {"nein", -2}})});
  ASSERT_EQ(likeness.size(), 2u);
  EXPECT_EQ(likeness[0], Likeness{100});
  EXPECT_EQ(likeness[1], (Likeness{100, 0, 0, 100}));
}

TEST(LeastRisks, VeryImprobableTranslationsDoNoHarm) {
  const std::vector<TranslationList> lines = {list_of({{"a", -90'000}, {"b", -90'001}})};
  EXPECT_EQ(least_risks(lines, 1), std::vector<std::size_t>{0});
}

/// Two translations of each line: the second is right, and only the reverse model knows it.
const std::vector<TranslationList> kLists = {
    {{0, "eine alte Frau kocht eine Suppe", -1, -4},
     {0, "ein alter Mann liest ein Buch", -1.4, -1}},
    {{1, "das rote Auto fährt schnell weg", -1, -4},
     {1, "die kleine Katze schläft am Fenster", -1.4, -1}}};
const std::vector<std::string> kReferences = {"ein alter Mann liest ein Buch",
                                              "die kleine Katze schläft am Fenster"};

TEST(TriedRisks, AWeightThatTakesTheReferencesHasTheBestScores) {
  const std::vector<TriedRisk> tried = try_risks(kLists, kReferences, true);
  const auto best = std::ranges::max_element(tried, {}, &TriedRisk::bleu);
  EXPECT_NEAR(best->bleu, 100, 1e-9);
  EXPECT_NEAR(best->chrf, 100, 1e-9);
  EXPECT_EQ(best->config.reverse_weight, 0.2) << "0.1 * 3 is below 0.4, 0.2 * 3 above";
  EXPECT_EQ(tried.front().config.reverse_weight, 0);
  EXPECT_LT(tried.front().bleu, 10);
}

TEST(TriedRisks, WithoutAReverseModelOnlyTheTemperatureDiffers) {
  for (const TriedRisk& tried : try_risks(kLists, kReferences, false))
    EXPECT_EQ(tried.config.reverse_weight, 0);
}

}  // namespace
}  // namespace dragoman
