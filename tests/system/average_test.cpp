#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/process.h"
#include "tests/system/run_folder_fixture.h"

namespace dragoman {
namespace {

class Average : public RunFolderTest {};

TEST_F(Average, TheModelsAreFilesOrTheNewestCheckpointsOfARun) {
  const std::string output = run_ / "average.safetensors";
  for (const std::vector<std::string>& models :
       {std::vector<std::string>{run_.path(), "--last", "2"}, {run_.path()}, {model(), model()}}) {
    std::vector<std::string> words = {"average", "-o", output};
    words.insert(words.end(), models.begin(), models.end());
    const ProcessResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(result.output, "");
    const ModelFileReader average(output), original(model());
    EXPECT_EQ(average.provenance().averaged_from.size(), 2u);
    for (const std::string& name : original.names())
      EXPECT_EQ(average.tensor(name).raw(), original.tensor(name).raw());
  }
  expect_one_error(run({"average", "-o", output, run_.path(), "--last", "3"}), 1, "2 checkpoints");
  expect_one_error(run({"average", "-o", output, model(), model(), "--last", "2"}), 2,
                   "--last: counts");
  EXPECT_THAT(run({"average", "-o", output, run_.path(), "--last", "1"}).errors,
              testing::AllOf(testing::HasSubstr(" " + output + ": a copy of "),
                             testing::Not(testing::HasSubstr("warning"))));
  expect_one_error(run({"average", "-o", run_.path(), model()}), 2, "is a folder");
  expect_one_error(run({"average", run_.path()}), 2, "--output");
  expect_one_error(run({"average", "-o", output}), 2, "--models");
}

TEST_F(Average, AnUnreadableFileIsOneLineAndNothingIsWritten) {
  for (const auto& [file, what] : write_unreadable_files()) {
    expect_one_error(run({"average", "-o", run_ / "out", file}), 1, what);
    EXPECT_FALSE(std::filesystem::exists(run_ / "out"));
  }
}

}  // namespace
}  // namespace dragoman
