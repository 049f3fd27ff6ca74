#include "data/augment.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

TEST(ChangeCase, BothSidesChangeAlike) {
  const TextPair pair{"The NATO street.", "Die Straße der NATO."};
  EXPECT_EQ(change_case(pair, CaseChange::Upper, {}),
            (TextPair{"THE NATO STREET.", "DIE STRASSE DER NATO."}));
  EXPECT_EQ(change_case(pair, CaseChange::Title, {}),
            (TextPair{"The NATO Street.", "Die Straße Der NATO."}));
}

TEST(ChangeCase, SymbolsStayAsTheyAre) {
  const std::string kept[] = {"<num>", "<nu", "x"};
  EXPECT_EQ(change_case({"a <num> x<nub", "<num>b"}, CaseChange::Upper, kept),
            (TextPair{"A <num> x<nuB", "<num>B"}));
}

TEST(ChangeCase, PairsWhoseSourceHasNoCaseStay) {
  EXPECT_EQ(change_case({"漢字 2", "two characters"}, CaseChange::Upper, {}), std::nullopt);
  EXPECT_EQ(change_case({"NO", "nein"}, CaseChange::Upper, {}), std::nullopt);
  EXPECT_EQ(change_case({"Two Words", "zwei Wörter"}, CaseChange::Title, {}), std::nullopt);
  EXPECT_EQ(change_case({"two", "二"}, CaseChange::Upper, {}), (TextPair{"TWO", "二"}));
}

TEST(DropEndPunctuation, TheMarksOfBothSidesAreDropped) {
  EXPECT_EQ(drop_end_punctuation({"Is it? Yes!", "Ist es? Ja !"}),
            (TextPair{"Is it? Yes", "Ist es? Ja"}));
  EXPECT_EQ(drop_end_punctuation({"本当です。", "It is true..."}),
            (TextPair{"本当です", "It is true"}));
  EXPECT_EQ(drop_end_punctuation({"Wait… ", "Warte"}), (TextPair{"Wait", "Warte"}));
}

TEST(DropEndPunctuation, PairsWithoutAnEndMarkOrWithNothingElseStay) {
  EXPECT_EQ(drop_end_punctuation({"no mark ", "kein Zeichen."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({" no mark", "kein Zeichen."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"(yes.)", "(ja.)"}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"...", "..."}), std::nullopt);
  EXPECT_EQ(drop_end_punctuation({"Yes.", "."}), std::nullopt);
}

TEST(Concatenated, ConcatenatedSentencesHaveASpaceBetweenThemWhereTheirScriptHasSpaces) {
  EXPECT_EQ(concatenated({"One dog ", "Ein Hund"}, {"two cats.", "zwei Katzen."}),
            (TextPair{"One dog two cats.", "Ein Hund zwei Katzen."}));
  EXPECT_EQ(concatenated({"本当です。", "It is."}, {"雨だ。", "It rains."}),
            (TextPair{"本当です。雨だ。", "It is. It rains."}));
}

}  // namespace
}  // namespace dragoman
