// dragoman corpus: what it prints and writes, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/formatted_text.h"
#include "base/json.h"
#include "extras/sample/sample_corpus.h"
#include "tests/names.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

/// A hundred clean pairs, of which line 10 lacks its target, line 20 is a copy of line 11, line 30
/// is untranslated and has a tag, and the targets of lines 41 and 42 have other numbers.
class Corpus : public testing::Test {
 protected:
  Corpus() {
    std::string source, target;
    for (std::uint64_t i = 0, line = 1; line <= 100; ++i) {
      SamplePair pair = sample_pair(11, i);
      if (pair.source.size() < 40 || pair.source.find_first_of("0123456789") != std::string::npos)
        continue;
      if (line == 10) pair.target = "";
      if (line == 11) eleventh_ = pair;
      if (line == 20) pair = eleventh_;
      if (line == 30) pair.target = pair.source += " <b>so</b>";
      if (line == 41 || line == 42) pair.source += " (1984)";
      source += pair.source + "\n";
      target += pair.target + "\n";
      ++line;
    }
    write_file(folder_ / "train.en", source);
    write_file(folder_ / "train.de", target);
    files_ = {"corpus", "--source", folder_ / "train.en", "--target", folder_ / "train.de"};
  }

  ProcessResult look(const std::vector<std::string>& more) const {
    std::vector<std::string> words = files_;
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  json report() const {
    const ProcessResult result = look({"--json", "-"});
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return parse_json(result.output);
  }

  TemporaryFolder folder_;
  SamplePair eleventh_;
  std::vector<std::string> files_;
};

TEST_F(Corpus, TheTextOnTheTerminalNamesFaultsWithCountsAndLines) {
  const ProcessResult result = look({});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, Names("100 pairs ... en ... de"));
  EXPECT_THAT(result.output, Names("1 ... 1.0 % ... empty ... a side is empty ... line 10"));
  EXPECT_THAT(result.output, Names("2 ... 2.0 % ... numbers differ ... 41 ... 42"));
  EXPECT_THAT(result.output, Names("copy ... copies ... line 20"));
  EXPECT_THAT(result.output, Names("like line 11"));
  EXPECT_THAT(result.output, Not(HasSubstr("mojibake")));
}

TEST_F(Corpus, TheJsonHasCountsAndExamples) {
  const json found = report();
  EXPECT_EQ(found.at("pairs"), 100);
  EXPECT_EQ(found.at("source_language"), "en");
  const json& numbers = found.at("faults").at("numbers");
  EXPECT_EQ(numbers.at("pairs"), 2);
  EXPECT_EQ(numbers.at("examples").at(1).at("line"), 42);
  EXPECT_EQ(found.at("faults").at("copy").at("examples").at(0).at("detail"), "like line 11");
}

TEST_F(Corpus, ThePageHasTheExamplesAsPlainText) {
  const ProcessResult result = look({"--html", folder_ / "page.html"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const std::string page = read_file(folder_ / "page.html");
  EXPECT_THAT(page, HasSubstr(escaped(eleventh_.source)));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;so&lt;/b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>so")));
}

TEST_F(Corpus, CleaningKeepsCleanPairsAndListsTheOthers) {
  const ProcessResult result = look({"--clean", "safe", "-o", folder_ / "clean"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Names("97 ... 100 pairs ... empty 1 ... untranslated 1 ... copy 1"));
  const auto lines_of = [&](const std::string& name) {
    const std::string text = read_file(folder_ / "clean" / name);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines_of("train.en"), 97);
  EXPECT_EQ(lines_of("train.de"), 97);
  EXPECT_EQ(lines_of("cut.tsv"), 4);
  EXPECT_THAT(read_file(folder_ / "clean" / "cut.tsv"),
              HasSubstr("train.en\t20\tcopy\t" + eleventh_.source + "\t" + eleventh_.target));
  files_ = {"corpus", "--source", folder_ / "clean/train.en", "--target",
            folder_ / "clean/train.de"};
  EXPECT_THAT(report().at("faults"), Not(testing::Contains(json("copy"))));
}

TEST_F(Corpus, AFileOfFiltersIsWrittenAndReadWithItsChanges) {
  const std::string file = folder_ / "filters.toml";
  ASSERT_EQ(look({"--write-filters", file}).exit_code, 0);
  std::string text = read_file(file);
  EXPECT_THAT(text, HasSubstr("max-length-deviation = 5"));
  const std::size_t cut = text.find("\ncut = [");
  ASSERT_NE(cut, text.npos);
  text.replace(cut, text.find('\n', cut + 1) - cut, "\ncut = [\"numbers\"]");
  write_file(file, text);
  const ProcessResult result = look({"--clean", file, "-o", folder_ / "clean"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Names("98 ... numbers 2"));
  write_file(file, "cut = [\"number\"]\n");
  expect_one_error(look({"--clean", file, "-o", folder_ / "clean"}), 2,
                   "number ... did you mean numbers?");
  write_file(file, "near-copy = 2\n");
  expect_one_error(look({"--clean", file, "-o", folder_ / "clean"}), 2,
                   "filters.toml ... near-copy");
}

TEST_F(Corpus, AnEditedFileOfFiltersIsNotReplaced) {
  const std::string file = folder_ / "filters.toml";
  ASSERT_EQ(look({"--quick", "--write-filters", file}).exit_code, 0);
  ASSERT_EQ(look({"--quick", "--write-filters", file}).exit_code, 0) << "nobody has edited it";
  write_file(file, "cut = [\"numbers\"]\n");
  expect_one_error(look({"--quick", "--write-filters", file}), 2,
                   "--write-filters ... filters.toml ... name another file");
  expect_one_error(
      look({"--quick", "--clean", file, "-o", folder_ / "clean", "--write-filters", file}), 2,
      "--write-filters ... filters.toml ... read");
  EXPECT_EQ(read_file(file), "cut = [\"numbers\"]\n");
}

TEST_F(Corpus, AReportReplacesOnlyAReport) {
  const std::string file = folder_ / "report.json";
  for (const char* other : {"{\"pairs\": 7}\n", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n"}) {
    write_file(file, other);
    expect_one_error(look({"--quick", "--json", file}), 2,
                     "--json ... report.json ... another file");
    EXPECT_EQ(read_file(file), other);
  }
  std::filesystem::remove(file);
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(look({"--quick", "--json", file}).exit_code, 0) << "its own file";
}

TEST_F(Corpus, CleaningReplacesOnlyItsOwnFiles) {
  const auto clean = [&](const std::string& filter) {
    return look({"--quick", "--clean", filter, "-o", folder_ / "clean"});
  };
  create_folders(folder_ / "clean");
  write_file(folder_ / "clean/cut.tsv", "mine\n");
  expect_one_error(clean("safe"), 2, "--output ... cut.tsv ... name another folder");
  EXPECT_EQ(read_file(folder_ / "clean/cut.tsv"), "mine\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "clean/train.en"));
  std::filesystem::remove(folder_ / "clean/cut.tsv");
  ASSERT_EQ(clean("safe").exit_code, 0);
  ASSERT_EQ(clean("strict").exit_code, 0) << "it replaces its own files";
  write_file(folder_ / "clean/train.de", "edited\n");
  expect_one_error(clean("safe"), 2, "--output ... train.de ... name another folder");
  EXPECT_EQ(read_file(folder_ / "clean/train.de"), "edited\n");
  create_folders(folder_ / "measured/strict");
  write_file(folder_ / "measured/strict/train.en", "mine\n");
  expect_one_error(look({"--quick", "--clean", "measure", "-o", folder_ / "measured", "--valid-src",
                         folder_ / "train.en", "--valid-tgt", folder_ / "train.de"}),
                   2, "--output ... strict/train.en");
}

TEST_F(Corpus, AClosedPipeCostsNoFile) {
  Process process(
      CommandWords{{"sh", "-c", R"(out=$1; shift; { sleep 1; "$@"; echo $? > "$out"; } | true)",
                    "sh", folder_ / "code", kProgram, "corpus", "--quick", "--quiet", "--source",
                    folder_ / "train.en", "--target", folder_ / "train.de", "--clean", "safe", "-o",
                    folder_ / "clean", "--write-filters", folder_ / "filters.toml"}});
  process.wait();
  EXPECT_EQ(read_file(folder_ / "code"), "141\n") << "the pipe was closed";
  for (const std::string name :
       {"clean/train.en", "clean/train.de", "clean/cut.tsv", "filters.toml"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / name)) << name;
}

TEST_F(Corpus, TheShellCompletesTheFiltersOfClean) {
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_THAT(run({"completion", shell}).output, HasSubstr("safe strict measure")) << shell;
}

TEST_F(Corpus, LeaksAreFoundInFilesWithBothSides) {
  write_file(folder_ / "valid.tsv",
             eleventh_.source + "!\t" + eleventh_.target + "\nOne.\tEins.\n");
  const ProcessResult result = look({"--valid", folder_ / "valid.tsv", "--json", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json leaks = parse_json(result.output).at("faults").at("leak");
  EXPECT_EQ(leaks.at("pairs"), 2);
  EXPECT_EQ(leaks.at("examples").at(0).at("line"), 11);
  EXPECT_THAT(leaks.at("examples").at(0).at("detail").get<std::string>(), HasSubstr("valid.tsv:1"));
}

TEST_F(Corpus, AFileWithBothSidesIsLookedAtAndCleaned) {
  write_file(folder_ / "memory.tsv", "A house is old.\tEin Haus ist alt.\nEmpty.\t \n");
  files_ = {"corpus", folder_ / "memory.tsv"};
  const ProcessResult result = look({"--clean", "safe", "-o", folder_ / "clean"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, Names("a side is empty ... line 2"));
  EXPECT_EQ(read_file(folder_ / "clean/memory.tsv.source"), "A house is old.\n");
  EXPECT_EQ(read_file(folder_ / "clean/memory.tsv.target"), "Ein Haus ist alt.\n");
}

TEST_F(Corpus, FiltersAreMeasuredByShortRuns) {
  std::string valid;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const SamplePair pair = sample_pair(12, i);
    valid += pair.source + "\t" + pair.target + "\n";
  }
  write_file(folder_ / "valid.tsv", valid);
  create_folders(folder_ / "measured");
  for (const std::string name : {"none-1.log", "none-1.translation"})
    write_file(folder_ / "measured" / name, "mine\n");
  files_.insert(files_.end(),
                {"--quick", "--valid", folder_ / "valid.tsv", "--clean", "measure",
                 "--measure-updates", "2", "--measure-runs", "1", "-o", folder_ / "measured"});
  const ProcessResult result = run(files_, "", std::chrono::seconds(300));
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, Names("none ... 100"));
  EXPECT_THAT(result.output, Names("safe ... 97"));
  EXPECT_THAT(result.output, Names("strict ... 95"));
  EXPECT_THAT(result.output,
              Names("safe cannot be told from no filter ... BLEU ... 1 run of 2 updates each"));
  EXPECT_THAT(read_file(folder_ / "measured/strict/cut.tsv"), HasSubstr("train.en\t41\tnumbers"));
  for (const std::string name : {"none-1.log", "none-1.translation"})
    EXPECT_EQ(read_file(folder_ / "measured" / name), "mine\n");
  EXPECT_THAT(read_file(folder_ / "measured/none-1/messages.log"), HasSubstr("parameters"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "measured/safe-1/translation.txt"));
  expect_one_error(look({"--json", "-"}), 2, "--json");
}

TEST_F(Corpus, AFilterThatCutsNothingIsNotMeasuredByTraining) {
  write_file(folder_ / "one.tsv", eleventh_.source + "\t" + eleventh_.target + "\n");
  write_file(folder_ / "valid.tsv", "One.\tEins.\n");
  files_ = {"corpus", folder_ / "one.tsv"};
  const ProcessResult result = look({"--quick", "--valid", folder_ / "valid.tsv", "--clean",
                                     "measure", "-o", folder_ / "measured"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.output, HasSubstr("\nsafe cuts nothing\nstrict cuts nothing\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "measured/none-1"));
}

TEST_F(Corpus, TheProgramThatCannotTrainMeasuresNothing) {
  std::vector<std::string> words = files_;
  words.insert(words.begin(), kLiteProgram);
  for (const std::string word : {"--clean", "measure", "-o"}) words.push_back(word);
  words.insert(words.end(), {folder_ / "m", "--valid-src", folder_ / "train.en", "--valid-tgt",
                             folder_ / "train.de"});
  Process process(CommandWords{words});
  expect_one_error(process.wait(), 2, "--clean measure ... train ... LibTorch", "dragoman-lite");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "m"));
}

TEST_F(Corpus, FlagsThatDoNotGoTogetherAreRefused) {
  expect_one_error(look({"--clean", "measure", "-o", folder_ / "m"}), 2,
                   "--clean measure ... validation text");
  expect_one_error(run({"corpus"}), 2, "--source");
  expect_one_error(look({"--clean", "safe"}), 2, "--output");
  expect_one_error(look({"-o", folder_ / "clean"}), 2, "--clean");
  expect_one_error(look({"--clean", "safer", "-o", folder_ / "clean"}), 2,
                   "--clean ... safer ... safe ... strict");
  expect_one_error(look({"--json", folder_ / "train.en"}), 2, "--json ... train.en");
  expect_one_error(look({"--clean", "safe", "-o", folder_.path().string()}), 2,
                   "--output ... train.en");
  expect_one_error(look({"--measure-runs", "3"}), 2, "--measure-runs: needs --clean measure");
  expect_one_error(look({"--columns", "1", "1"}), 2, "--columns 1 1: are one");
}

TEST_F(Corpus, TheCodeOfALanguageIsTakenInAnyCase) {
  const ProcessResult result =
      look({"--quick", "--source-lang", "EN", "--target-lang", "de_DE", "--json", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const json found = parse_json(result.output);
  EXPECT_EQ(found.at("source_language"), "en");
  EXPECT_FALSE(found.at("faults").contains("source-language"));
  expect_one_error(look({"--source-lang", "german", "--target-lang", "en"}), 2,
                   "--source-lang ... german ... code");
}

TEST_F(Corpus, NoOutputIsWrittenOverAnother) {
  expect_one_error(look({"--html", folder_ / "o", "--json", folder_ / "o"}), 2,
                   "--html ... o is written by --json, too");
  create_folders(folder_ / "clean");
  for (const std::string name : {"train.en", "cut.tsv"})
    expect_one_error(look({"--quick", "--clean", "safe", "-o", folder_ / "clean", "--json",
                           folder_ / ("clean/../clean/" + name)}),
                     2, "--json ... " + name + " is written by --clean, too");
}

TEST_F(Corpus, ATextOfAnotherEncodingIsNamedAsSuch) {
  write_file(folder_ / "latin.en", "green\nfine\n");
  write_file(folder_ / "latin.de", "gr\xFCn\ngut\n");
  const ProcessResult latin = run(
      {"corpus", "--quick", "--source", folder_ / "latin.en", "--target", folder_ / "latin.de"});
  EXPECT_EQ(latin.exit_code, 0);
  EXPECT_THAT(latin.errors, Names("1 of 2 pairs are not UTF-8 ... iconv"));
  write_file(folder_ / "mac.en", "green\rfine\rgood\r");
  expect_one_error(
      run({"corpus", "--quick", "--source", folder_ / "mac.en", "--target", folder_ / "mac.en"}), 1,
      "mac.en ... CR alone");
}

}  // namespace
}  // namespace dragoman
