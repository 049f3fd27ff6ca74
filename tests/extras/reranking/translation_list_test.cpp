#include "extras/reranking/translation_list.h"

#include <gtest/gtest.h>

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

TEST(LeastRisks, VeryImprobableTranslationsDoNoHarm) {
  const std::vector<TranslationList> lines = {list_of({{"a", -90'000}, {"b", -90'001}})};
  EXPECT_EQ(least_risks(lines, 1), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace dragoman
