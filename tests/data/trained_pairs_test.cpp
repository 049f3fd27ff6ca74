#include "data/trained_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/data/prepare_fixture.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(HashFilter, TheFilterFindsWhatWasAddedAndHardlyAnythingElse) {
  RandomStream random(1), others(2);
  HashFilter filter(10'000);
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(filter.add(random())) << i;
  RandomStream again(1);
  int mistaken = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(filter.contains(again()));
    mistaken += filter.contains(others());
  }
  EXPECT_LE(mistaken, 5);
  EXPECT_TRUE(filter.add(RandomStream(1)()));
  EXPECT_LE(filter.bytes().size(), 25'100u);
}

TEST(HashFilter, TheBytesOfAFilterAreReadAgainAndDamageIsNoticed) {
  HashFilter filter(100);
  filter.add(7);
  const std::string bytes = filter.bytes();
  EXPECT_TRUE(HashFilter(bytes, "file").contains(7));
  EXPECT_EQ(HashFilter(bytes, "file").bytes(), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(HashFilter(bytes.substr(0, size), "file"), Error);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    EXPECT_THROW(HashFilter(damaged, "file"), Error);
  }
}

TEST(LikenessHash, PairsWithTheSameLettersAndDigitsAreAlike) {
  const auto hash = likeness_hash("A man, 7 dogs.", "Ein Mann, 7 Hunde.");
  EXPECT_EQ(likeness_hash("a  man 7 dogs!", "EIN MANN: 7 Hunde"), hash);
  EXPECT_NE(likeness_hash("A man, 8 dogs.", "Ein Mann, 7 Hunde."), hash);
  EXPECT_NE(likeness_hash("A man, 7 dogs.", "Ein Mann, 7 Hund."), hash);
  EXPECT_EQ(likeness_hash("Caf\u00E9", "x"), likeness_hash("cafe\u0301", "x"));
  EXPECT_NE(likeness_hash("...", "!"), likeness_hash("...", "?")) << "of signs alone";
}

class TextSurveyTest : public PrepareTest {
 protected:
  TextSurveyTest() {
    give_tokenizer();
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
  EXPECT_EQ(survey(), (TextSurvey{.pairs = 100, .language_pairs = 100}));
}

TEST_F(TextSurveyTest, LinesInAnotherLanguageAreFoundInASample) {
  using Parts = std::vector<std::string>;
  const Parts who = {"The old woman", "My little brother", "Our tired neighbour", "A young girl"};
  const Parts does = {"is looking for", "has forgotten", "would like to buy", "never found"};
  const Parts what = {"the windows of the house", "a book for her children",
                      "the way to the station", "the letter from his mother"};
  const Parts wer = {"Die alte Frau", "Mein kleiner Bruder", "Unser m\u00FCder Nachbar",
                     "Ein junges M\u00E4dchen"};
  const Parts tut = {"sucht noch immer", "vergisst schon wieder", "kauft sich heute",
                     "findet wohl niemals"};
  const Parts was = {"die Fenster des Hauses", "ein Buch f\u00FCr ihre Kinder",
                     "den Weg zum Bahnhof", "den Brief seiner Mutter"};
  const auto set_pairs = [&](std::size_t pairs) {
    source.clear(), target.clear();
    for (std::size_t i = 0; i < pairs; ++i) {
      const std::size_t a = i % 4, b = i / 4 % 4, c = i / 16 % 4;
      const std::string end = ", " + std::to_string(i) + ".";
      source.push_back(who[a] + " " + does[b] + " " + what[c] + end);
      target.push_back(wer[a] + " " + tut[b] + " " + was[c] + end);
    }
  };
  set_pairs(100);
  const std::string french = "Le chat est assis devant la maison et regarde les oiseaux du jardin";
  for (const std::size_t i : {17, 18, 40}) target[i] = french + std::to_string(i);
  source[70] = french;
  const TextSurvey found = survey();
  EXPECT_EQ(found.language_pairs, 100);
  EXPECT_EQ(found.other_language_target.lines, (std::vector<std::int64_t>{18, 19, 41}));
  EXPECT_EQ(found.other_language_source, (PairsFound{1, {71}}));
  set_pairs(9000);
  EXPECT_EQ(survey().language_pairs, 3000);
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
  source[95] = "A " + source[94].substr(2) + "!", target[95] = target[94];
  const TextSurvey found = survey();
  EXPECT_EQ(found.copies, (PairsFound{7, {11, 21, 31, 41, 51}}));
  EXPECT_EQ(found.other_script_source, (PairsFound{1, {4}}));
  EXPECT_EQ(found.other_script_target, (PairsFound{2, {5, 6}}));
  EXPECT_THAT(found.odd_length.lines, ElementsAre(5, 7));
  EXPECT_EQ(found.near_copies, (PairsFound{1, {96}}));
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
  EXPECT_EQ(found, (TextSurvey{.pairs = 100, .language_pairs = 100}));
}

TEST_F(TextSurveyTest, TheBytesOfASurveyAreReadAgainAndDamageIsNoticed) {
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

class ValidOverlapTest : public PrepareTest {
 protected:
  ValidOverlapTest() {
    give_tokenizer();
    const std::vector<std::string> lines = sample_text(300);
    set_text(lines);
    data.keep_duplicates = true;
    // The training text has line 2, and nearly line 4.
    set_valid({"no such line", lines[7], "nor this", " \"" + lines[9] + "\"!", "or that"});
    data.valid_target = {write("v.de", "x\ndas " + lines[7] + "\ny\nDAS " + lines[9] + "\nz\n")};
  }
  void set_valid(const std::vector<std::string>& source) {
    std::string text;
    for (const std::string& line : source) text += line + "\n";
    data.valid_source = {write("v.en", text)};
  }
};

TEST_F(ValidOverlapTest, ValidationPairsThatAreTrainedOnAreNamedAndNotScored) {
  for (int again = 0; again < 2; ++again) {  // the second time from the cache
    const PreparedData prepared = prepare();
    const ValidSet& valid = prepared.valid;
    EXPECT_EQ(valid.trained, (PairsFound{2, {2, 4}}));
    EXPECT_FALSE(valid.has_trained);
    EXPECT_THAT(valid.source_lines, ElementsAre("no such line", "nor this", "or that"));
    EXPECT_THAT(valid.target_lines, ElementsAre("x", "y", "z"));
    EXPECT_THAT(valid.line_numbers, ElementsAre(1, 3, 5));
    EXPECT_EQ(valid.tokens.pairs(), 3);
    EXPECT_EQ(prepared.report.kept, 300);
  }
}

TEST_F(ValidOverlapTest, TrainedPairsAreScoredIfFewerThanHalfWouldRemain) {
  data.valid_source = data.train_source;
  data.valid_target = data.train_target;
  const ValidSet valid = prepare().valid;
  EXPECT_TRUE(valid.has_trained);
  EXPECT_EQ(valid.trained.pairs, 300);
  EXPECT_THAT(valid.trained.lines, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(valid.source_lines.size(), 300u);
  EXPECT_EQ(valid.tokens.pairs(), 300);
}

TEST_F(ValidOverlapTest, ValidationPairsMayBeLeftOutOfTrainingInstead) {
  data.valid_overlap = ValidOverlap::Untrained;
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.report.in_validation, 2);
  EXPECT_EQ(prepared.report.kept, 298);
  EXPECT_THAT(lines_of(prepared.train), Not(testing::AnyOf(Contains(7), Contains(9))));
  EXPECT_EQ(prepared.valid.trained.pairs, 0);
  EXPECT_EQ(prepared.valid.source_lines.size(), 5u);
  expect_adds_up(prepared.report);
}

TEST_F(ValidOverlapTest, ValidationPairsMayBeTrainedOnAndScored) {
  data.valid_overlap = ValidOverlap::Ignored;
  const PreparedData prepared = prepare();
  EXPECT_EQ(prepared.valid.trained.pairs, 0);
  EXPECT_EQ(prepared.valid.source_lines.size(), 5u);
  EXPECT_EQ(prepared.report.kept, 300);
}

TEST_F(ValidOverlapTest, ATagInFrontOfALineDoesNotHideIt) {
  tokenizer.source_model.clear();  // as one that is trained knows the tag
  data.corpus_tags = {"<bt>"};
  set_valid({"no such line", "<bt> " + sample_text(300)[7], "nor this", "<bt> or this", "or that"});
  EXPECT_EQ(prepare().valid.trained, (PairsFound{1, {2}}));
}

TEST_F(PrepareTest, HeldOutPairsThatAreNearlyTrainedOnAreNamedByTheirLines) {
  give_tokenizer();
  std::vector<std::string> lines;
  for (int i = 0; i < 1000; ++i) lines.push_back("line number " + std::to_string(i));
  for (int i = 0; i < 100; ++i) lines.push_back("Line number " + std::to_string(i) + "!");
  set_text(lines);
  data.valid_fraction = 0.1;
  const PreparedData prepared = prepare();
  const ValidSet& valid = prepared.valid;
  EXPECT_EQ(prepared.report.held_out, 110);
  ASSERT_GT(valid.trained.pairs, 5);
  EXPECT_EQ(valid.source_lines.size(), 110u - static_cast<std::size_t>(valid.trained.pairs));
  for (const std::int64_t line : valid.trained.lines) {
    const std::int64_t twin = line <= 100 ? line + 1000 : line - 1000;
    EXPECT_TRUE(lines_of(prepared.train).contains(twin - 1)) << line;
  }
}

}  // namespace

}  // namespace dragoman
