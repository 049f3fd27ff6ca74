#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "base/error.h"

namespace dragoman {
namespace {

namespace fs = std::filesystem;

class Files : public testing::Test {
 protected:
  Files() { fs::create_directories(folder_); }
  ~Files() override { fs::remove_all(folder_); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("dragoman-files-" + std::to_string(getpid()));
};

TEST_F(Files, APipeIsWrittenAndReadAndStays) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string text(300'000, 'x');
  std::string found;
  std::thread reader([&] { found = read_file(pipe); });
  write_file(pipe, text);
  reader.join();
  EXPECT_EQ(found, text);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(Files, ALinkStaysALink) {
  write_file(folder_ / "old", "1");
  fs::create_symlink("old", folder_ / "link");
  write_file(folder_ / "link", "2");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "old"), "2");
  fs::create_symlink("new", folder_ / "dangling");
  write_file(folder_ / "dangling", "3");
  EXPECT_EQ(read_file(folder_ / "new"), "3");
}

TEST_F(Files, ALinkIsReplacedWhereThatIsAskedFor) {
  write_file(folder_ / "old", "1");
  fs::create_symlink("old", folder_ / "link");
  write_file(folder_ / "link", "2", Links::Replace);
  EXPECT_FALSE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "link"), "2");
  EXPECT_EQ(read_file(folder_ / "old"), "1");
}

TEST_F(Files, AReplacedFileKeepsItsPermissions) {
  for (const auto mode : {fs::perms(0600), fs::perms(0640), fs::perms(0666)}) {
    write_file(folder_ / "secret", "1");
    fs::permissions(folder_ / "secret", mode);
    AtomicFile file(folder_ / "secret");
    file.write(std::string_view("2"));
    for (const auto& entry : fs::directory_iterator(folder_))
      EXPECT_EQ(entry.status().permissions(), mode) << entry.path();
    file.commit();
    EXPECT_EQ(fs::status(folder_ / "secret").permissions(), mode);
    EXPECT_EQ(read_file(folder_ / "secret"), "2");
  }
}

TEST_F(Files, AFolderIsNoFile) {
  EXPECT_THROW(read_file(folder_), Error);
  EXPECT_THROW(write_file(folder_, "x"), Error);
  EXPECT_TRUE(fs::is_directory(folder_));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Files, AFileThatIsNotPutInPlaceDisappears) {
  write_file(folder_ / "a", "old");
  { AtomicFile(folder_ / "a").write(std::string_view("new")); }
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace dragoman
