// The checks that look at one pair.
#include "extras/corpus/pair_checks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string_view>

namespace dragoman {
namespace {

bool has(PairFault fault, std::string_view source, std::string_view target) {
  const UsualPair usual{.languages = {"en", "de"},
                        .scripts = {kLatinScript, kLatinScript},
                        .length_ratio = 1.1,
                        .length_spread = 1};
  return faults_in_lines(source, target, usual, {}).has(fault);
}

TEST(PairChecks, NumbersThatAreWordsOnTheOtherSideDoNotDiffer) {
  EXPECT_TRUE(has(PairFault::Numbers, "It has 226 rooms.", "Es hat 262 Zimmer."));
  EXPECT_TRUE(has(PairFault::Numbers, "It has 226 rooms.", "Es hat viele Zimmer."));
  EXPECT_FALSE(has(PairFault::Numbers, "He has 2 dogs.", "Er hat zwei Hunde."));
  EXPECT_FALSE(has(PairFault::Numbers, "At 3 pm.", "Um 15 Uhr."));
  EXPECT_FALSE(has(PairFault::Numbers, "On 12/05/2010.", "Am 12.05.2010."));
  EXPECT_FALSE(has(PairFault::Numbers, "At 12:30.", "Um 12.30 Uhr."));
}

TEST(PairChecks, NamesAreNotUntranslatedText) {
  EXPECT_TRUE(has(PairFault::Untranslated, "The dog sleeps.", "The dog sleeps."));
  EXPECT_TRUE(has(PairFault::Untranslated, "The old dog sleeps here now.",
                  "the old dog sleeps here today."));
  EXPECT_FALSE(has(PairFault::Untranslated, "Berlin", "Berlin"));
  EXPECT_FALSE(has(PairFault::Untranslated, "42", "42"));
  EXPECT_TRUE(has(PairFault::NothingToTranslate, "42", "42"));
}

TEST(PairChecks, AnAcronymIsNotShouting) {
  EXPECT_TRUE(has(PairFault::Casing, "THE HOUSE IS OLD.", "Das Haus ist alt."));
  EXPECT_FALSE(has(PairFault::Casing, "THE HOUSE IS OLD.", "DAS HAUS IST ALT."));
  EXPECT_FALSE(has(PairFault::Casing, "The NATO said so.", "Die NATO hat es gesagt."));
  EXPECT_FALSE(has(PairFault::Casing, "NATO", "Nato"));
}

/// CLD2 takes this German line for Norwegian.
TEST(PairChecks, WordsOfTheTextAcquitALineOfAnotherLanguage) {
  constexpr std::string_view kLine = "Ein Mann und sein Hund in den Bergen.";
  const std::string_view english = "A man and his dog in the mountains.";
  EXPECT_TRUE(has(PairFault::OtherLanguageTarget, english, kLine));
  UsualPair usual{.languages = {"en", "de"}, .scripts = {kLatinScript, kLatinScript}};
  for (const bool is_german : {true, false}) {
    const auto words = std::make_shared<KnownWords>();
    for (int i = 0; i < 3; ++i)
      words->add("in den Bergen schläft ein Mann und ein Hund", is_german);
    usual.words[1] = words;
    EXPECT_EQ(faults_in_lines(english, kLine, usual, {}).has(PairFault::OtherLanguageTarget),
              !is_german);
  }
}

TEST(PairChecks, AFewWordsOfAnotherScriptAreNotAnotherScript) {
  const UsualPair usual{.languages = {"ja", "en"},
                        .scripts = {script_of(U'面'), kLatinScript},
                        .length_ratio = 3.4,
                        .length_spread = 2};
  const FaultSet area =
      faults_in_lines("面積：616.31km2", "Area: 616.31 square kilometers", usual, {});
  EXPECT_FALSE(area.has(PairFault::OtherScriptSource));
  const FaultSet names = faults_in_lines("ICOCA電子マネーの新サービスICOCAコインロッカーサービス",
                                         "A new service of the electronic money", usual, {});
  EXPECT_FALSE(names.has(PairFault::Casing));
  EXPECT_TRUE(faults_in_lines("All in English", "All in English, too", usual, {})
                  .has(PairFault::OtherScriptSource));
}

TEST(PairChecks, ShortPairsMayHaveOtherRatios) {
  EXPECT_FALSE(has(PairFault::Length, "No.", "Auf keinen Fall."));
  EXPECT_TRUE(has(PairFault::Length, std::string(6000, 'x'), std::string(6000, 'y')));
  EXPECT_TRUE(
      has(PairFault::Length, "This is a sentence of some length, and it says a lot.", "Ja."));
}

TEST(PairChecks, ALineOfAnotherLanguageIsFoundOnItsSide) {
  constexpr std::string_view kFrench = "La vieille dame regarde les fenêtres de la maison.";
  EXPECT_TRUE(has(PairFault::OtherLanguageSource, kFrench, "Die alte Dame schaut zum Fenster."));
  EXPECT_FALSE(has(PairFault::OtherLanguageTarget, kFrench, "Die alte Dame schaut zum Fenster."));
  EXPECT_TRUE(has(PairFault::OtherLanguageTarget, "The old lady looks at it.", kFrench));
}

}  // namespace
}  // namespace dragoman
