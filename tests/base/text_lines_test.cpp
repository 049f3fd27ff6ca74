#include "base/text_lines.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "tests/base/gzipped.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

class ReadLines : public testing::Test {
 protected:
  Lines read(std::string_view text) {
    write_file(path_, text);
    return read_lines(path_.string());
  }
  ~ReadLines() override { std::filesystem::remove(path_); }

  const std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      ("read_lines_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) +
       ".txt");
};

TEST_F(ReadLines, OnlyNewlinesEndLines) {
  EXPECT_EQ(read("a\u2028b\x0C"
                 "c\rd\n\n e"),
            (Lines{"a\u2028b\x0C"
                   "c\rd",
                   "", " e"}));
  EXPECT_EQ(read(""), Lines{});
  EXPECT_EQ(read("\n"), Lines{""});
}

TEST_F(ReadLines, CompressedFilesAreReadAsIfTheyWerePlain) {
  EXPECT_EQ(read(kGzipped), (Lines{"eins", "zwei"}));
  EXPECT_THROW(read("PK\x03\x04"), Error);
}

TEST_F(ReadLines, LineEndsAndByteOrderMarkAreNoText) {
  EXPECT_EQ(read("\uFEFFa\r\nb\r\n"), (Lines{"a", "b"}));
}

TEST_F(ReadLines, WhiteSpaceAtTheEndOfALineIsText) {
  EXPECT_EQ(read("a \nb \t\u3000\r\n"), (Lines{"a ", "b \t\u3000"}));
}

TEST_F(ReadLines, AByteOrderMarkIsTextWhereSacreBleusFiguresAreWanted) {
  read("\uFEFFa\n\uFEFFb\n");
  EXPECT_EQ(read_lines(path_.string(), ByteOrderMark::Text), (Lines{"\uFEFFa", "\uFEFFb"}));
}

TEST_F(ReadLines, InvalidUtf8NamesFileAndLine) {
  try {
    read("a\nb\xFF\n");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind(path_.string() + ":2: invalid UTF-8", 0), 0u)
        << error.what();
  }
  EXPECT_THROW(read_lines("/no/such/file"), Error);
}

}  // namespace
}  // namespace dragoman
