// dragoman sample: the files, and that they are the same each time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "base/files.h"
#include "tests/names.h"
#include "tests/system/process.h"

namespace dragoman {
namespace {

using Files = std::map<std::string, std::string>;

Files files_in(const std::filesystem::path& folder) {
  Files files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename()] = read_file(entry.path());
  files.erase(".sample");
  return files;
}

ProcessResult run_sample(const std::filesystem::path& folder, std::vector<std::string> flags = {}) {
  flags.insert(flags.begin(), {"sample", "-o", folder, "--train-size", "200"});
  return run(flags);
}

Files sample(const std::filesystem::path& folder, const std::vector<std::string>& flags = {}) {
  const ProcessResult result = run_sample(folder, flags);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.output, "");
  EXPECT_THAT(result.errors, testing::HasSubstr(folder.string()));
  return files_in(folder);
}

TEST(Sample, SixFilesAreWrittenWhoseSidesHaveAsManyLines) {
  const TemporaryFolder folder;
  const Files files = sample(folder / "new/folder");
  EXPECT_EQ(files.size(), 6u);
  for (const std::string part : {"train", "valid", "test"}) {
    ASSERT_TRUE(files.contains(part + ".en") && files.contains(part + ".de")) << part;
    const std::string &english = files.at(part + ".en"), &german = files.at(part + ".de");
    EXPECT_EQ(std::count(english.begin(), english.end(), '\n'),
              std::count(german.begin(), german.end(), '\n'));
    EXPECT_NE(english, german);
  }
  const std::string& train = files.at("train.en");
  EXPECT_EQ(std::count(train.begin(), train.end(), '\n'), 200);
}

TEST(Sample, TheCorpusIsTheSameForTheSameSeedAndOverwritesItself) {
  const TemporaryFolder folder;
  const Files first = sample(folder / "a");
  EXPECT_EQ(sample(folder / "b"), first);
  const Files other = sample(folder / "a", {"--seed", "7"});
  EXPECT_EQ(other.size(), 6u);
  EXPECT_NE(other, first);
  EXPECT_EQ(sample(folder / "a"), first);
}

TEST(Sample, LargeCountsHaveSeparators) {
  const TemporaryFolder folder;
  const ProcessResult result =
      run({"sample", "-o", folder / "a", "--train-size", "1200", "--valid-size", "1100"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.errors, Names("1,200 training ... 1,100 validation"));
}

TEST(Sample, NoOtherFileIsReplaced) {
  const TemporaryFolder folder;
  const Files first = sample(folder / "a");
  std::ofstream(folder / "a" / "valid.de", std::ios::app) << "Mein Satz.\n";
  const Files changed = files_in(folder / "a");
  expect_failure(run_sample(folder / "a", {"--seed", "7"}), 1,
                 "valid.de ... not made by this command");
  EXPECT_EQ(files_in(folder / "a"), changed) << "nothing was replaced";

  std::filesystem::create_directory(folder / "b");
  std::ofstream(folder / "b" / "train.en") << "My corpus.\n";
  EXPECT_EQ(run_sample(folder / "b").exit_code, 1);
  EXPECT_EQ(files_in(folder / "b"), (Files{{"train.en", "My corpus.\n"}}));

  std::filesystem::create_directory(folder / "c");
  std::ofstream(folder / "c" / ".sample") << "My notes.\n";
  EXPECT_EQ(run_sample(folder / "c").exit_code, 1);
  EXPECT_TRUE(files_in(folder / "c").empty());
  EXPECT_EQ(read_file(folder / "c" / ".sample"), "My notes.\n");
}

TEST(Sample, AFolderThatCannotBeWrittenIsOneLine) {
  const ProcessResult result = run_sample("/dev/null/sample");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.errors, testing::StartsWith("dragoman: error: /dev/null/sample"));
  EXPECT_EQ(run({"sample"}).exit_code, 2);
  EXPECT_EQ(run({"sample", "-o", "/dev/null/sample", "--train-size", "-5"}).exit_code, 2);
}

}  // namespace
}  // namespace dragoman
