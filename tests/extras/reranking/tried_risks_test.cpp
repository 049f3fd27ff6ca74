#include "extras/reranking/tried_risks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dragoman {
namespace {

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
