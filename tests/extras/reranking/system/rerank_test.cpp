// dragoman rerank: lists in, a line out for each, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/system/process.h"
#include "tests/system/run_folder_fixture.h"

namespace dragoman {
namespace {

using testing::HasSubstr;

constexpr const char* kList =
    "0 ||| eine Frau kocht ||| F0= -1 ||| -0.2\n"
    "0 ||| der Mann schläft ||| F0= -1.1 ||| -0.21\n"
    "0 ||| der Mann schläft ||| F0= -1.15 ||| -0.215\n"
    "0 ||| der Mann schlief ||| F0= -1.2 ||| -0.22\n"
    "1 ||| allein ||| F0= -3 ||| -1\n";

TEST(Rerank, EachLineGetsTheTranslationMostLikeTheOthers) {
  const ProcessResult result = run({"rerank"}, kList);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "der Mann schläft\nallein\n");
  EXPECT_THAT(result.errors, HasSubstr("2 lines, another translation than the first for 1"));
}

TEST(Rerank, ATemperatureNearZeroKeepsTheBest) {
  const ProcessResult result = run({"rerank", "--temperature", "0.001"}, kList);
  EXPECT_EQ(result.output, "eine Frau kocht\nallein\n") << result.errors;
}

TEST(Rerank, ManyLinesStayInOrder) {
  std::string list, expected;
  for (int line = 0; line < 600; ++line)
    for (const std::string word : {"eins", "eins", "zwei"}) {
      list += join_text(line, " ||| ", word, " ", line, " ||| F0= -1 ||| -1\n");
      if (word == "zwei") expected += join_text("eins ", line, "\n");
    }
  EXPECT_EQ(run({"rerank"}, list).output, expected);
}

TEST(Rerank, TheOutputIsAFileOfItsOwn) {
  const TemporaryFolder folder;
  std::ofstream(folder / "list") << kList;
  const ProcessResult same = run({"rerank", "-i", folder / "list", "-o", folder / "list"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.errors, HasSubstr("--output"));
  const ProcessResult result = run({"rerank", "-i", folder / "list", "-o", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
}

TEST(Rerank, OtherLinesAreNamed) {
  const ProcessResult text = run({"rerank"}, "Ein Mann schläft.\n");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.errors, HasSubstr("standard input:1"));
  EXPECT_THAT(text.errors, HasSubstr("--n-best"));
  const ProcessResult gap =
      run({"rerank"}, "0 ||| ja ||| F0= -1 ||| -1\n2 ||| nein ||| F0= -1 ||| -1\n");
  EXPECT_EQ(gap.exit_code, 1);
  EXPECT_THAT(gap.errors, HasSubstr("standard input:2"));
  EXPECT_EQ(run({"rerank", "--temperature", "0"}, kList).exit_code, 2);
}

TEST(Rerank, TuningTakesNoValueThatItTriesAndALineForEachList) {
  const TemporaryFolder folder;
  std::ofstream(folder / "one") << "der Mann schläft\n";
  const ProcessResult given =
      run({"rerank", "--tune", folder / "one", "--temperature", "1"}, kList);
  EXPECT_EQ(given.exit_code, 2);
  EXPECT_THAT(given.errors, HasSubstr("--temperature: --tune tries several"));
  const ProcessResult few = run({"rerank", "--tune", folder / "one"}, kList);
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_THAT(few.errors, HasSubstr("has translations of 2 lines, but"));
}

TEST(Rerank, AReverseWeightNeedsAReverseModel) {
  const ProcessResult result = run({"rerank", "--reverse-weight", "0.5"}, kList);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.errors, HasSubstr("--reverse-model"));
}

/// The list, the lines that were translated, and a model that is taken for one of the other
/// direction.
class RerankByReverseModel : public RunFolderTest {
 protected:
  RerankByReverseModel() {
    write_file(run_ / "list", kList);
    write_file(run_ / "source", "the cat sat\nmat 7\n");
  }
  std::vector<std::string> words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {
        "rerank", "-i", run_ / "list", "--reverse-model", run_.path(), "--temperature", "0.001"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// log P(source | translation) of a token for each translation, as `dragoman score` says it.
  std::vector<double> scores(const std::vector<std::string>& translations) const {
    std::string lines, sources;
    for (const std::string& translation : translations) {
      lines += translation + "\n";
      sources += "the cat sat\n";
    }
    write_file(run_ / "hypotheses", lines);
    write_file(run_ / "sources", sources);
    std::istringstream numbers(run({"score", "-m", run_.path(), "--device", "cpu", "--normalize",
                                    "--src", run_ / "hypotheses", "--tgt", run_ / "sources"})
                                   .output);
    return {std::istream_iterator<double>(numbers), {}};
  }
};

TEST_F(RerankByReverseModel, TheTranslationIsTakenInWhichItFindsTheSource) {
  const std::vector<std::string> translations = {"eine Frau kocht", "der Mann schläft",
                                                 "der Mann schlief"};
  const std::vector<double> found = scores(translations);
  ASSERT_EQ(found.size(), translations.size());
  const auto likeliest = std::ranges::max_element(found) - found.begin();
  const ProcessResult heavy =
      run(words({"--source", run_ / "source", "--reverse-weight", "1000000"}));
  EXPECT_EQ(heavy.exit_code, 0) << heavy.errors;
  EXPECT_EQ(heavy.output, translations[static_cast<std::size_t>(likeliest)] + "\nallein\n");
  const ProcessResult none = run(words({"--source", run_ / "source", "--reverse-weight", "0"}));
  EXPECT_EQ(none.output, "eine Frau kocht\nallein\n") << none.errors;
}

TEST_F(RerankByReverseModel, TheLinesMustBeThoseOfTheList) {
  EXPECT_THAT(run(words()).errors, HasSubstr("--source FILE"));
  EXPECT_EQ(run({"rerank", "-i", run_ / "list", "--source", run_ / "source"}).exit_code, 2);
  write_file(run_ / "source", "the cat sat\n");
  const ProcessResult few = run(words({"--source", run_ / "source", "-o", run_ / "out"}));
  EXPECT_EQ(few.exit_code, 1);
  EXPECT_THAT(few.errors, HasSubstr("has 1 line, but the list has translations of line 1"));
  write_file(run_ / "source", "the cat sat\nmat 7\nmat\n");
  const ProcessResult many = run(words({"--source", run_ / "source", "-o", run_ / "out"}));
  EXPECT_EQ(many.exit_code, 1);
  EXPECT_THAT(many.errors, HasSubstr("has 3 lines, but the list has translations of 2"));
  EXPECT_FALSE(std::filesystem::exists(run_ / "out"));
}

TEST_F(RerankByReverseModel, TuningPrintsTheScoresOfEachWeight) {
  write_file(run_ / "reference", "der Mann schläft tief\nganz allein\n");
  const ProcessResult result = run({"rerank", "-i", run_ / "list", "--reverse-model", run_.path(),
                                    "--source", run_ / "source", "--tune", run_ / "reference"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("reverse weight  temperature    BLEU   chrF2"));
  EXPECT_EQ(std::ranges::count(result.output, '\n'), 1 + 8 * 6);
  EXPECT_THAT(result.errors, HasSubstr("the best BLEU has --reverse-weight "));
  const ProcessResult alone = run({"rerank", "--tune", run_ / "reference"}, kList);
  EXPECT_EQ(std::ranges::count(alone.output, '\n'), 1 + 6) << alone.errors;
  const ProcessResult other = run({"rerank", "--tune", run_ / "hypothesis"}, kList);
  EXPECT_EQ(other.exit_code, 1);
}

TEST(Rerank, AnEmptyListGivesNoLine) {
  const ProcessResult result = run({"rerank"}, "");
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
}

}  // namespace
}  // namespace dragoman
