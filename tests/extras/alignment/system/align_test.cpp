// dragoman align: the lines, the forms of input, the flags.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "extras/sample/sample_corpus.h"
#include "tests/names.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

/// 1,000 pairs of the sample grammar, then a pair with an empty side and a last pair.
class Align : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream source(folder_ / "a.en"), target(folder_ / "a.de"), both(folder_ / "a.tsv");
    const auto add = [&](const std::string& english, const std::string& german) {
      source << english << '\n';
      target << german << '\n';
      both << english << '\t' << german << '\n';
    };
    for (std::uint64_t i = 0; i < 1000; ++i) {
      const SamplePair pair = sample_pair(1, i);
      add(pair.source, pair.target);
    }
    add("", "Peter schläft.");
    add("The young man sees the dog.", "Der junge Mann sieht den Hund.");
  }

  ProcessResult align(std::vector<std::string> flags, const std::string& input = "") {
    flags.insert(flags.begin(), "align");
    return run(flags, input);
  }
  std::vector<std::string> sides() {
    return {"--src", folder_ / "a.en", "--tgt", folder_ / "a.de"};
  }
  std::vector<std::string> sides_and(const std::vector<std::string>& more) {
    std::vector<std::string> flags = sides();
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }

  const TemporaryFolder folder_;
};

TEST_F(Align, EachPairHasALineOfLinks) {
  const ProcessResult result = align(sides());
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const std::vector<std::string> lines = lines_of(result.output);
  ASSERT_EQ(lines.size(), 1002u);
  EXPECT_EQ(lines[1000], "");
  EXPECT_EQ(lines[1001], "0-0 1-1 2-2 3-3 4-4 5-5");
  EXPECT_THAT(result.errors, HasSubstr("1,002 pairs"));
}

TEST_F(Align, AllFormsOfTheTextHaveTheSameLinks) {
  const std::string expected = align(sides()).output;
  EXPECT_EQ(align({"--pairs", folder_ / "a.tsv"}).output, expected);
  EXPECT_EQ(align({"--src", "-", "--tgt", folder_ / "a.de"}, read_file(folder_ / "a.en")).output,
            expected);
  EXPECT_EQ(align(sides_and({"--threads", "1"})).output, expected);
  EXPECT_EQ(align(sides_and({"-o", folder_ / "links"})).output, "");
  EXPECT_EQ(read_file(folder_ / "links"), expected);
}

TEST_F(Align, ProbabilitiesAndScoresAreAdded) {
  const std::vector<std::string> lines =
      lines_of(align(sides_and({"--probabilities", "--scores"})).output);
  ASSERT_EQ(lines.size(), 1002u);
  EXPECT_EQ(lines[1000], "\t0.0000\t0.0000");
  EXPECT_THAT(lines[1001],
              MatchesRegex("0-0:[01]\\.[0-9]+ .*5-5:[01]\\.[0-9]+\t[0-9.]+\t-[0-9.]+"));
}

TEST_F(Align, TheLexiconHasTranslations) {
  EXPECT_EQ(align(sides_and({"--lexicon", folder_ / "words.tsv"})).exit_code, 0);
  const std::vector<std::string> lines = lines_of(read_file(folder_ / "words.tsv"));
  const auto dog = std::ranges::find_if(
      lines, [](const std::string& line) { return line.starts_with("dog\t"); });
  ASSERT_NE(dog, lines.end());
  EXPECT_THAT(*dog, StartsWith("dog\thund\t"));
}

TEST_F(Align, ALexiconReplacesOnlyALexicon) {
  const std::string file = folder_ / "words.tsv";
  for (const char* other : {"dog\thund\n", "dog\thund\t1\t2\tnoun\n"}) {
    std::ofstream(file) << other;
    expect_failure(align(sides_and({"--lexicon", file})), 2,
                   "--lexicon ... words.tsv ... another file");
    EXPECT_EQ(read_file(file), other);
  }
  std::filesystem::remove(file);
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(align(sides_and({"--lexicon", file})).exit_code, 0) << "its own file";
}

TEST_F(Align, APairThatIsTooLongGetsNoLinksAndIsCounted) {
  std::ofstream pairs(folder_ / "long.tsv");
  for (int word = 0; word < 2000; ++word) pairs << "word ";
  pairs << "\tWort\nword\tWort\n";
  pairs.close();
  const ProcessResult result = align({"--pairs", folder_ / "long.tsv"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "\n0-0\n");
  EXPECT_THAT(result.errors, HasSubstr("1 pair with a side of more than 1,024 words"));
}

TEST_F(Align, UnitsThatAreLeftOutAreCounted) {
  std::ofstream(folder_ / "broken.tsv") << "a cat\teine Katze\nno second column\n";
  const ProcessResult result = align({"--pairs", folder_ / "broken.tsv"});
  EXPECT_EQ(lines_of(result.output).size(), 1u);
  EXPECT_THAT(result.errors, Names("broken.tsv ... 1 unit is left out ... line 2"));
}

TEST_F(Align, WrongUseIsRefused) {
  const auto expect_refusal = [&](const std::vector<std::string>& flags, const std::string& what) {
    const ProcessResult result = align(flags);
    EXPECT_EQ(result.exit_code, 2) << what;
    EXPECT_THAT(result.errors, HasSubstr(what));
  };
  const std::string tsv = folder_ / "a.tsv";
  expect_refusal({}, "--src");
  expect_refusal({"--src", tsv}, "--tgt");
  expect_refusal(sides_and({"--columns", "1", "2"}), "--columns: needs --pairs");
  expect_refusal(sides_and({"--source-lang", "en"}), "--source-lang: needs --pairs");
  expect_refusal({"--pairs", tsv, "--columns", "1"}, "--columns has 1 value");
  expect_refusal(sides_and({"--pairs", tsv}), "--pairs");
  expect_refusal(sides_and({"--target-tokenizer", tsv}), "--target-tokenizer");
  expect_refusal(sides_and({"-o", folder_ / "a.en"}), "--output");
  expect_refusal(sides_and({"-o", folder_ / "b", "--lexicon", folder_ / "b"}), "--lexicon");
  std::ofstream(folder_ / "short") << "A line.\n";
  const ProcessResult unequal = align({"--src", folder_ / "a.en", "--tgt", folder_ / "short"});
  EXPECT_EQ(unequal.exit_code, 1);
  EXPECT_THAT(unequal.errors, HasSubstr("short"));
  std::ofstream(folder_ / "empty") << "";
  std::ofstream(folder_ / "untranslated.po") << "msgid \"a cat\"\nmsgstr \"\"\n";
  expect_failure(align({"--src", folder_ / "empty", "--tgt", folder_ / "empty"}), 1,
                 "empty ... no lines");
  expect_failure(align({"--pairs", folder_ / "untranslated.po"}), 1,
                 "untranslated.po ... no pairs");
}

}  // namespace
}  // namespace dragoman
