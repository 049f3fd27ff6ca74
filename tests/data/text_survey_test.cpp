#include "data/text_survey.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/data/prepare_fixture.h"

namespace dragoman {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextSurveyTest : public PrepareTest {
 protected:
  TextSurveyTest() {
    data.keep_duplicates = true;
    for (int i = 0; i < 100; ++i) {
      source.push_back("a sentence with the number " + std::to_string(i));
      target.push_back("ein Satz mit der Nummer " + std::to_string(i));
    }
  }
  TextSurvey survey() {
    set_text(source, target);
    return prepare().survey->survey;
  }

  std::vector<std::string> source, target;
};

TEST_F(TextSurveyTest, NothingIsFoundInAPlainText) {
  EXPECT_EQ(survey(), TextSurvey{.pairs = 100});
}

TEST_F(TextSurveyTest, TheFirstLinesOfEachKindAreNamed) {
  for (const std::size_t i : {10, 20, 30, 40, 50, 60, 70}) target[i] = source[i];
  source[3] =
      "\u044D\u0442\u043E \u043F\u0440\u0435\u0434\u043B\u043E\u0436\u0435\u043D\u0438\u0435 "
      "number";
  target[4] = "\u8FD9\u662F\u4E00\u4E2A\u53E5\u5B50";
  target[5] =
      "\u03B1\u03C5\u03C4\u03AE \u03B5\u03AF\u03BD\u03B1\u03B9 \u03BC\u03B9\u03B1 "
      "\u03C0\u03C1\u03CC\u03C4\u03B1\u03C3\u03B7";
  target[6] = target[6] + " " + target[6] + " " + target[6];
  source[91] = source[90];
  target[93] = target[92];
  source[95] = source[94], target[95] = target[94];
  const TextSurvey found = survey();
  EXPECT_EQ(found.copies, (PairsFound{7, {11, 21, 31, 41, 51}}));
  EXPECT_EQ(found.other_script_source, (PairsFound{1, {4}}));
  EXPECT_EQ(found.other_script_target, (PairsFound{2, {5, 6}}));
  EXPECT_THAT(found.odd_length.lines, ElementsAre(5, 7));
  EXPECT_EQ(found.repeated_source, (PairsFound{1, {92}}));
  EXPECT_EQ(found.repeated_target, (PairsFound{1, {94}}));
}

TEST_F(TextSurveyTest, AFileThatIsShiftedByALineHasSidesOfUnusualLengths) {
  source.clear(), target.clear();
  RandomStream random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string line = "so";
    for (std::uint64_t w = random.below(20) + 5; w > 0; --w) line += " on";
    source.push_back(line);
    target.push_back(line + " und weiter");
  }
  EXPECT_EQ(survey().odd_length.pairs, 0);
  std::rotate(target.begin(), target.begin() + 1, target.end());
  EXPECT_GT(survey().odd_length.pairs, 100);
}

TEST_F(TextSurveyTest, PairsThatAreNotTrainedOnDoNotCount) {
  data.keep_duplicates = false;
  source.push_back(source[0]), target.push_back(target[0]);
  source.push_back(""), target.push_back("");
  const TextSurvey found = survey();
  EXPECT_EQ(found, TextSurvey{.pairs = 100});
}

TEST_F(TextSurveyTest, ItsBytesAreReadAgainAndDamageIsNoticed) {
  target[7] = source[7];
  set_text(source, target);
  const auto surveyed = prepare().survey;
  const std::string bytes = to_bytes(*surveyed);
  const SurveyedText read = surveyed_from_bytes(bytes, "file");
  EXPECT_EQ(read.survey, surveyed->survey);
  EXPECT_EQ(read.trained.bytes(), surveyed->trained.bytes());
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{20}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    EXPECT_THAT(message_of<Error>([&] { surveyed_from_bytes(damaged, "file"); }),
                HasSubstr("file: is damaged"));
  }
  EXPECT_THROW(surveyed_from_bytes("", "file"), Error);
  write_file(cache_file("survey-"), "damaged");
  EXPECT_EQ(prepare().survey->survey, surveyed->survey) << "made again";
}

}  // namespace
}  // namespace dragoman
