#include "data/alignment/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<ByteRange>& words, const std::string& line) {
  std::vector<std::string> texts;
  for (const ByteRange& word : words)
    texts.push_back(line.substr(word.begin, word.end - word.begin));
  return texts;
}

std::vector<std::string> texts_of(const WordNumbers& numbers, const NumberedLine& line) {
  std::vector<std::string> texts;
  for (const WordId id : line.ids) texts.push_back(numbers.text(id));
  return texts;
}

TEST(AlignedWords, WordsStandBetweenWhiteSpace) {
  const std::string line = "  a bc\td  \u00a0e ";
  EXPECT_THAT(texts_of(word_places(line), line), ElementsAre("a", "bc", "d", "\u00a0e"));
  EXPECT_THAT(word_places(""), IsEmpty());
  EXPECT_THAT(word_places("  "), IsEmpty());
}

TEST(AlignedWords, CaseAndPunctuationMakeNoDifferenceToAWord) {
  WordNumbers numbers;
  const NumberedLine line = numbers.add("(Ein gut-gemeinter STRA\u00dfENBAU, \ufb01nde ich.)");
  EXPECT_THAT(texts_of(numbers, line),
              ElementsAre("ein", "gut", "gemeinter", "strassenbau", "finde", "ich"));
  EXPECT_THAT(line.words, ElementsAre(0, 1, 1, 2, 3, 4));
  EXPECT_EQ(numbers.add("strassenbau FINDE Ein").ids,
            (std::vector<WordId>{line.ids[3], line.ids[4], line.ids[0]}));
  EXPECT_EQ(numbers.size(), 7u);
}

TEST(AlignedWords, AWordWithoutLettersIsItsCharacters) {
  WordNumbers numbers;
  const NumberedLine line = numbers.add("so -- ...");
  EXPECT_THAT(texts_of(numbers, line), ElementsAre("so", "-", "-", ".", ".", "."));
  EXPECT_THAT(line.words, ElementsAre(0, 1, 1, 2, 2, 2));
}

TEST(AlignedWords, ACharacterOfAScriptWithoutSpacesIsAWord) {
  WordNumbers numbers;
  const NumberedLine line = numbers.add("\u732b\u304c 2\u5339\u3002");
  EXPECT_THAT(texts_of(numbers, line), ElementsAre("\u732b", "\u304c", "2", "\u5339"));
  EXPECT_THAT(line.words, ElementsAre(0, 0, 1, 1));
}

TEST(AlignedWords, UnseenWordsAreFoundAsUnknown) {
  WordNumbers numbers;
  const WordId known = numbers.add("known").ids[0];
  EXPECT_NE(known, kUnknownWord);
  EXPECT_THAT(numbers.find("Known unknown").ids, ElementsAre(known, kUnknownWord));
  EXPECT_THAT(numbers.find("").ids, IsEmpty());
}

}  // namespace

}  // namespace dragoman
