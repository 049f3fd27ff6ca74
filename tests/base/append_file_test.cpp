#include "base/append_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {
namespace {

/// False where another process has the file locked.
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

}  // namespace
}  // namespace dragoman
