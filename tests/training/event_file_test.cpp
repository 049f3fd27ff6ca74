#include "training/event_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/files.h"

namespace dragoman {
namespace {

// tests/system/tensorboard.py reads event files with the real TensorBoard.
class EventFiles : public testing::Test {
 protected:
  ~EventFiles() override { std::filesystem::remove_all(folder_); }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      found.insert(entry.path().filename().string());
    return found;
  }

  const std::filesystem::path folder_ =
      testing::TempDir() + "event_file_test-" + std::to_string(getpid());
};

TEST(Crc32c, TheChecksumIsThatOfRfc3720) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST_F(EventFiles, EachStartHasAFileThatSortsBehindTheOthers) {
  std::string last;
  for (std::size_t start = 1; start <= 3; ++start) {
    const EventFile file(folder_, 1);
    ASSERT_EQ(names().size(), start);
    EXPECT_GT(*names().rbegin(), last);
    last = *names().rbegin();
    EXPECT_NE(last.find("tfevents"), std::string::npos);
  }
}

TEST_F(EventFiles, EventsHoldTheNumbersAndTextsOfALine) {
  EventFile file(folder_, 1);
  const auto bytes = [this] { return read_file(folder_ / *names().begin()); };
  const std::string before = bytes();
  EXPECT_TRUE(file.append({{"type", "start"}, {"parameters", 3}}));
  EXPECT_EQ(bytes(), before);  // of no update
  EXPECT_TRUE(file.append({{"type", "validation"},
                           {"update", 7},
                           {"bleu", 1.5},
                           {"best", true},
                           {"samples", {{{"source", "a"}, {"translation", "b"}}}}}));
  const std::string added = bytes().substr(before.size());
  EXPECT_NE(added.find("valid/bleu"), std::string::npos);
  EXPECT_EQ(added.find("valid/best"), std::string::npos);
  EXPECT_EQ(added.find("valid/update"), std::string::npos);
  EXPECT_NE(added.find("    source: a\n    translation: b\n"), std::string::npos);
}

TEST_F(EventFiles, AFolderThatCannotBeMadeIsAnError) {
  write_file(folder_, "a file stands here");
  EXPECT_THROW(EventFile(folder_, 1), Error);
}

}  // namespace
}  // namespace dragoman
