// What a look at a line shows.
#include "extras/corpus/line_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LineFacts, Utf8ReadAsLatin1OrWindows1252IsMojibake) {
  for (const std::string_view line :
       {"GrÃ¶ÃŸe", "itâ€™s", "Â»soÂ«", "fÃ¼r", "ÐŸÑ€Ð¸Ð²ÐµÑ‚", "Å¡koÄ\u0087"})
    EXPECT_TRUE(facts_of_line(line).has_mojibake) << line;
  for (const std::string_view line : {"Größe", "it’s", "»so«", "CAFÉ»", "l’été…", "Ça coûte 5 €",
                                      "NÃO", "Â, Ê", "Привет", "猫だ"})
    EXPECT_FALSE(facts_of_line(line).has_mojibake) << line;
}

TEST(LineFacts, ALostCharacterIsTheReplacementSignOrAQuestionMarkInAWord) {
  for (const std::string_view line :
       {"gr\uFFFDn", "gr?n ist es", "the Commission?s proposal", "die T?r.", "das ist gr?n.",
        "?ber uns", "M?LLER", "es ist ?blich,"})
    EXPECT_TRUE(facts_of_line(line).has_lost_character) << line;
  for (const std::string_view line : {"Really? Yes.", "What?", "see a.org/x?id=3 there",
                                      "a.php?id.", "who?Me", "¿qué?", "?Que?", "so ?", "?"})
    EXPECT_FALSE(facts_of_line(line).has_lost_character) << line;
}

TEST(LineFacts, TagsAndEntitiesAreMarkup) {
  for (const std::string_view line :
       {"a &amp; b", "&#39;so&#39;", "&#x27;", "<b>so</b>", "so<br/>", "<a href=\"x\">y", "<!-- x"})
    EXPECT_TRUE(facts_of_line(line).has_markup) << line;
  for (const std::string_view line : {"a & b; c", "1 < 2 and 3 > 2", "AT&T;", "x <- y", "&; <>"})
    EXPECT_FALSE(facts_of_line(line).has_markup && line != "AT&T;") << line;
}

TEST(LineFacts, ANumberIsItsDigitsWithoutSeparatorsAndZerosAtTheEnds) {
  EXPECT_THAT(facts_of_line("1,000.50 and 3").numbers, ElementsAre("10005", "3"));
  EXPECT_EQ(facts_of_line("1.000,50 und 3").numbers, facts_of_line("1,000.50 and 3").numbers);
  EXPECT_EQ(facts_of_line("3 millions").numbers, facts_of_line("3 000 000").numbers);
  EXPECT_EQ(facts_of_line("٤٢").numbers, facts_of_line("42").numbers);
  EXPECT_THAT(facts_of_line("In 1999, 12 of 40.").numbers, ElementsAre("12", "1999", "4"));
  EXPECT_EQ(facts_of_line("12/05/2010").digits, facts_of_line("12.05.2010").digits);
  EXPECT_THAT(facts_of_line("none").numbers, IsEmpty());
}

TEST(LineFacts, LinksAreComparedByTheirHosts) {
  EXPECT_THAT(facts_of_line("see https://www.Example.org/a/b, or mail me@mail.example.com.").links,
              ElementsAre("example.org", "mail.example.com"));
  EXPECT_EQ(facts_of_line("http://de.wikipedia.org/Katze").links,
            facts_of_line("https://en.wikipedia.org/Cat").links);
  EXPECT_THAT(facts_of_line("meet @ noon").links, IsEmpty());
}

TEST(LineFacts, AWordOfTwoAlphabetsIsFoundButAFormulaIsNot) {
  EXPECT_TRUE(facts_of_line("the p\u0430per").has_mixed_word);
  EXPECT_TRUE(facts_of_line("gro\u03B2es Haus").has_mixed_word);  // Greek beta
  for (const std::string_view line : {"Größe", "µm", "Δt", "Windows для всех", "日本のTシャツ"})
    EXPECT_FALSE(facts_of_line(line).has_mixed_word) << line;
}

TEST(LineFacts, ATabIsNotAControlCharacter) {
  EXPECT_FALSE(facts_of_line("a\tb").has_control);
  for (const std::string_view line : {"a\x02", "\u0085 a", "a\uE000"})
    EXPECT_TRUE(facts_of_line(line).has_control) << line;
}

}  // namespace
}  // namespace dragoman
