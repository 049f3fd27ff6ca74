#include "base/unfinished.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/scratch_folder.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

TEST(Unfinished, AllIsRemovedButWhatHasItsName) {
  const ScratchFolder work(fs::path(testing::TempDir()) / "unfinished-");
  const fs::path folder = work.path();
  forget_unfinished(folder);
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  };
  AtomicFile done(folder / "done"), begun(folder / "begun");
  done.write(std::string_view("whole"));
  begun.write(std::string_view("half"));
  done.commit();
  const ScratchFolder scratch(folder / "scratch-");
  write_file(scratch.path() / "file", "text");
  ASSERT_EQ(files(), 3);
  remove_unfinished();
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read_file(folder / "done"), "whole");
}

}  // namespace
}  // namespace dragoman
