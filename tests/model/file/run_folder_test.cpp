#include "model/file/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "tests/model/file/scratch_file.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(RunFolder, OnlyFilesWithTheNamesThatARunGivesAreItsCheckpoints) {
  const ScratchFolder folder(testing::TempDir());
  const RunFolder run{folder.path()};
  std::filesystem::create_directories(run.checkpoints());
  for (const char* name :
       {"update-00000020.safetensors", "update-00000003.safetensors",
        "update-00000020-keep.safetensors", "update-5.safetensors", "update-x.safetensors",
        "update-00000000.safetensors", "start.safetensors", "latest.safetensors"})
    write_file(run.checkpoints() / name, "");
  const std::vector<std::filesystem::path> numbered = {run.at_update(3), run.at_update(20)};
  EXPECT_EQ(run.numbered(), numbered);
  EXPECT_EQ(run.at_update(0), run.start());
  std::filesystem::remove_all(run.root);
  EXPECT_TRUE(run.numbered().empty());
}

TEST(RunFolder, AFolderOfCheckpointsThatCannotBeListedIsAnError) {
  const ScratchFolder folder(testing::TempDir());
  const RunFolder run{folder.path()};
  write_file(run.checkpoints(), "a file in the folder's place");
  EXPECT_TRUE(run.numbered_if_listed().empty());
  EXPECT_THAT([&] { run.numbered(); },
              ThrowsMessage<Error>(Names(run.checkpoints().string() + " ... Not a directory")));
}

TEST(ModelFile, AFolderStandsForItsModel) {
  const ScratchFile model("model.safetensors", "x");
  EXPECT_EQ(resolve_model_path(model.path()), model.path());
  EXPECT_EQ(resolve_model_path(model.folder()), model.path());

  const ScratchFile unfinished("elsewhere");
  EXPECT_THAT([&] { resolve_model_path(unfinished.folder()); },
              ThrowsMessage<Error>(HasSubstr("holds no model.safetensors")));
  std::filesystem::create_directory(unfinished.folder() / "checkpoints");
  EXPECT_THAT([&] { resolve_model_path(unfinished.folder()); },
              ThrowsMessage<Error>(HasSubstr("checkpoints")));
  EXPECT_THAT([&] { resolve_model_path(unfinished.path()); },
              ThrowsMessage<Error>(HasSubstr("no such")));
  EXPECT_THAT([] { resolve_model_path(""); }, ThrowsMessage<Error>(HasSubstr("empty")));
}

}  // namespace
}  // namespace dragoman
