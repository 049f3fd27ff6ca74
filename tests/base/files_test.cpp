#include "base/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
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

TEST_F(Files, ALinkIsReplacedIfThatIsAskedFor) {
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

TEST_F(Files, AFolderIsNotAFile) {
  EXPECT_THROW(read_file(folder_), Error);
  EXPECT_THROW(write_file(folder_, "x"), Error);
  EXPECT_TRUE(fs::is_directory(folder_));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST(ReadFile, AnEmptyNameIsNamed) {
  EXPECT_THAT([] { read_file(""); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("name is empty")));
}

TEST_F(Files, AFileThatIsNotPutInPlaceDisappears) {
  write_file(folder_ / "a", "old");
  { AtomicFile(folder_ / "a").write(std::string_view("new")); }
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(Files, SmallAndLargeWritesStayInOrder) {
  const std::string large(1 << 20, 'x');
  std::string expected;
  AtomicFile file(folder_ / "a");
  const auto write = [&](std::string_view text) {
    file.write(text);
    expected += text;
    EXPECT_EQ(file.size(), expected.size());
  };
  for (int part = 0; part < 2; ++part) {
    for (int i = 0; i < 50'000; ++i) write("line " + std::to_string(i) + "\n");
    write(large);
  }
  file.commit();
  EXPECT_EQ(read_file(folder_ / "a"), expected);
}

TEST(AtomicFile, AFullDeviceIsFoundByCommitAtTheLatest) {
  AtomicFile full("/dev/full");
  full.write(std::string_view("text"));
  EXPECT_THROW(full.commit(), Error);
}

/// Whether the record was written; not if another process has the file locked.
bool appended(AppendFile& file, const std::string& record) {
  try {
    return file.append(record);
  } catch (const FileLocked&) {
    return false;
  }
}

class AppendedFile : public testing::Test {
 protected:
  ~AppendedFile() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      testing::TempDir() + "append_file_test-" + std::to_string(getpid());
};

TEST_F(AppendedFile, AFileIsCutBackToTheKeptLength) {
  std::int64_t kept = 0;
  {
    AppendFile file(path_, 0);
    file.append("{\"update\":1}\n");
    kept = file.bytes();
    file.append("{\"update\":2}\n");
  }
  AppendFile file(path_, kept);
  EXPECT_TRUE(file.append("{\"update\":3}\n"));
  EXPECT_EQ(read_file(path_), "{\"update\":1}\n{\"update\":3}\n");
}

TEST_F(AppendedFile, ALineThatFitsOnlyInPartOnTheDiskIsDropped) {
  // A limit on the size of files stands for a full disk: the system writes what fits.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto limit = [&before](rlim_t bytes) {
    const rlimit changed{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &changed);
  };
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  AppendFile file(path_, 0);
  limit(12);
  EXPECT_TRUE(file.append("12345678"));
  EXPECT_FALSE(file.append("abcdefgh"));
  EXPECT_TRUE(file.append("9\n"));
  limit(before.rlim_cur);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(read_file(path_), "123456789\n");
  EXPECT_EQ(file.bytes(), 10);
}

TEST_F(AppendedFile, AFileThatCannotBeOpenedIsNamed) {
  EXPECT_THROW(AppendFile(std::filesystem::path(testing::TempDir()), 0), Error);
  EXPECT_THROW(AppendFile(std::filesystem::path(testing::TempDir())), Error);
}

TEST_F(AppendedFile, SeveralProcessesMayAppend) {
  AppendFile first(path_), second(path_);  // descriptors of their own, as two processes have
  EXPECT_TRUE(first.append("one\n"));
  EXPECT_TRUE(second.append("two\n"));
  EXPECT_TRUE(first.append("three\n"));
  EXPECT_EQ(read_file(path_), "one\ntwo\nthree\n");
  EXPECT_EQ(first.bytes(), 14);
  AppendFile later(path_);
  EXPECT_TRUE(later.append("four\n"));
  EXPECT_EQ(read_file(path_), "one\ntwo\nthree\nfour\n");
}

TEST_F(AppendedFile, AFileThatAnotherProcessHasLockedIsNotWaitedFor) {
  AppendFile file(path_);
  file.append("one\n");
  const int other = open(path_.c_str(), O_WRONLY);
  ASSERT_EQ(flock(other, LOCK_EX | LOCK_NB), 0);
  EXPECT_THROW(file.append("two\n"), FileLocked);
  close(other);
  EXPECT_TRUE(file.append("three\n"));
  EXPECT_EQ(read_file(path_), "one\nthree\n");
}

TEST_F(AppendedFile, RecordsOfTwoAtOnceAreNeitherLostNorDivided) {
  constexpr int kRecords = 500;
  const auto append = [this](char letter) {
    AppendFile file(path_);
    for (int i = 0; i < kRecords; ++i)
      while (!appended(file, std::string(3'000, letter) + "\n")) std::this_thread::yield();
  };
  std::thread first(append, 'a'), second(append, 'b');
  first.join();
  second.join();
  std::istringstream text(read_file(path_));
  std::map<std::string, int> lines;
  for (std::string line; std::getline(text, line);) ++lines[line];
  const std::map<std::string, int> expected = {{std::string(3'000, 'a'), kRecords},
                                               {std::string(3'000, 'b'), kRecords}};
  EXPECT_TRUE(lines == expected) << lines.size() << " kinds of lines";
}

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
  EXPECT_THAT([] { ScratchFolder("/nowhere/scratch-"); },
              testing::ThrowsMessage<Error>(testing::StartsWith("/nowhere/scratch-")));
}

TEST_F(Files, AllUnfinishedOnesAreRemovedAtOnce) {
  const auto files = [&] {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  };
  AtomicFile done(folder_ / "done"), begun(folder_ / "begun");
  done.write(std::string_view("whole"));
  begun.write(std::string_view("half"));
  done.commit();
  const ScratchFolder scratch(folder_ / "scratch-");
  write_file(scratch.path() / "file", "text");
  ASSERT_EQ(files(), 3);
  remove_unfinished();
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(read_file(folder_ / "done"), "whole");
}

}  // namespace
}  // namespace dragoman
