#include "base/scratch_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolder, TheFolderIsNewAndIsRemovedWithItsFiles) {
  fs::path first;
  {
    const ScratchFolder one(fs::path(testing::TempDir()) / "scratch-"),
        two(fs::path(testing::TempDir()) / "scratch-");
    EXPECT_NE(one.path(), two.path());
    EXPECT_THAT(one.path().filename().string(), testing::StartsWith("scratch-"));
    first = one.path();
    write_file(first / "file", "text");
    EXPECT_TRUE(fs::is_empty(two.path()));
  }
  EXPECT_FALSE(fs::exists(first));
}

TEST(ScratchFolder, AnErrorNamesTheFolder) {
  try {
    const ScratchFolder scratch("/nowhere/scratch-");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("/nowhere/scratch-"));
  }
}

}  // namespace
}  // namespace dragoman
