#include "base/lines.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "tests/base/gzipped.h"
#include "tests/base/pipe.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {
namespace {

using Lines = std::vector<std::string>;

class ReadLines : public FolderTest {
 protected:
  Lines read(std::string_view text) {
    write_file(path_, text);
    return read_lines(path_.string());
  }

  const std::filesystem::path path_ = folder / "lines.txt";
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

TEST_F(ReadLines, LineEndsAndByteOrderMarkAreNotText) {
  EXPECT_EQ(read("\uFEFFa\r\nb\r\n"), (Lines{"a", "b"}));
}

TEST_F(ReadLines, WhiteSpaceAtTheEndOfALineIsText) {
  EXPECT_EQ(read("a \nb \t\u3000\r\n"), (Lines{"a ", "b \t\u3000"}));
}

TEST_F(ReadLines, AByteOrderMarkIsTextIfSacreBleusFiguresAreWanted) {
  read("\uFEFFa\n\uFEFFb\n");
  EXPECT_EQ(read_lines(path_.string(), ByteOrderMark::Text), (Lines{"\uFEFFa", "\uFEFFb"}));
}

TEST_F(ReadLines, InvalidUtf8NamesFileAndLine) {
  EXPECT_THAT(message_of<Error>([&] { read("a\nb\xFF\n"); }),
              Names(path_.string() + ":2: invalid UTF-8 ... iconv -f latin1 -t UTF-8"));
  EXPECT_THROW(read_lines("/no/such/file"), Error);
}

TEST(RequireSameLines, TheMessageNamesBothTextsAndSaysWhereToLook) {
  const auto message = [](const std::string& first, const std::string& second) {
    return message_of<Error>([&] { require_same_lines(first, 3, second, 1); });
  };
  EXPECT_THAT(message("a.en", "a.de"),
              Names("a.en has 3 lines ... a.de has 1 line ... paste a.en a.de"));
  EXPECT_THAT(message("a.en", "-"), Names("a.en has 3 lines ... standard input has 1 line"));
  EXPECT_NO_THROW(require_same_lines("a.en", 3, "-", 3));
}

using std::chrono::milliseconds;
using testing::ElementsAre;

std::vector<std::string> arrived_lines(LineReader& reader) {
  std::vector<std::string> lines;
  while (const auto line = reader.next_line()) lines.push_back(*line);
  return lines;
}

std::vector<std::string> lines_of(std::string_view text) {
  Pipe pipe;
  pipe.send(text);
  pipe.close_end(1);
  LineReader reader(pipe.out(), "input");
  std::vector<std::string> lines;
  while (!reader.at_end()) {
    reader.receive(milliseconds(1000));
    for (std::string& line : arrived_lines(reader)) lines.push_back(std::move(line));
  }
  return lines;
}

TEST(LineReader, CompressedTextIsReadAsIfItWerePlain) {
  EXPECT_THAT(lines_of(kGzipped), ElementsAre("eins", "zwei"));
  EXPECT_THROW(lines_of(kGzipped.substr(0, kGzipped.size() - 1)), Error);
  EXPECT_THROW(lines_of("\xff\xfe"
                        "e"),
               Error);
  EXPECT_THAT(lines_of("("), ElementsAre("("));
  Pipe pipe;
  LineReader reader(pipe.out(), "input");
  for (const char byte : kGzipped) {
    pipe.send({&byte, 1});
    reader.receive(milliseconds(1000));
  }
  EXPECT_THAT(arrived_lines(reader), ElementsAre("eins", "zwei"));
}

TEST(LineReader, OnlyALineFeedEndsALine) {
  EXPECT_THAT(lines_of("a\nb\rc\x0b\x0c\xc2\x85\xe2\x80\xa8\n"),
              ElementsAre("a", "b\rc\x0b\x0c\xc2\x85\xe2\x80\xa8"));
}

TEST(LineReader, EmptyLinesCountAndALastOneNeedsNoLineFeed) {
  EXPECT_THAT(lines_of(""), ElementsAre());
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of("\n\na"), ElementsAre("", "", "a"));
}

TEST(LineReader, CarriageReturnsBeforeLineFeedsAndAByteOrderMarkAreDropped) {
  EXPECT_THAT(lines_of("\xEF\xBB\xBF"
                       "a\r\n\r\n\xEF\xBB\xBF\nb\r"),
              ElementsAre("a", "", "\xEF\xBB\xBF", "b"));
}

TEST(LineReader, LinesMayHoldAnyBytes) {
  using std::string_literals::operator""s;
  EXPECT_THAT(lines_of("\0\xff\n\x80"s), ElementsAre("\0\xff"s, "\x80"));
}

TEST(LineReader, LinesThatHaveComeAreGivenWithoutWaiting) {
  Pipe pipe;
  LineReader reader(pipe.out(), "input");
  EXPECT_FALSE(reader.receive(milliseconds(0)));
  pipe.send("one\ntw");
  EXPECT_TRUE(reader.receive(milliseconds(0)));
  EXPECT_THAT(arrived_lines(reader), ElementsAre("one"));
  EXPECT_FALSE(reader.receive(milliseconds(5)));
  pipe.send("o\n");
  EXPECT_TRUE(reader.receive(milliseconds(0)));
  EXPECT_THAT(arrived_lines(reader), ElementsAre("two"));
  EXPECT_FALSE(reader.at_end());
}

TEST(LineReader, AFolderIsAnErrorThatNamesIt) {
  const int folder = open("/", O_RDONLY | O_DIRECTORY);
  LineReader reader(folder, "in.txt");
  try {
    reader.receive(milliseconds(0));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("in.txt: cannot read: "));
  }
  close(folder);
}

TEST(LineWriter, WrittenTextReadsBackWhateverTheSizes) {
  RandomStream random(9);
  std::vector<std::string> lines;
  for (const std::uint64_t bound : {3u, 200'000u, 3u, 70'000u})
    for (int i = 0; i < 3; ++i) lines.emplace_back(random.below(bound), 'x');
  Pipe pipe;
  std::jthread writing([&] {
    LineWriter writer(pipe.in(), "output");
    for (const std::string& line : lines) writer.write_line(line);
    writer.flush();
    pipe.close_end(1);
  });
  LineReader reader(pipe.out(), "input");
  std::vector<std::string> read;
  while (!reader.at_end()) {
    reader.receive(milliseconds(1000));
    for (std::string& line : arrived_lines(reader)) read.push_back(std::move(line));
  }
  EXPECT_EQ(read, lines);
}

std::string message_of_writing_to(int descriptor) {
  LineWriter writer(descriptor, "out.txt");
  writer.write_line("text");
  return message_of<Error>([&] { writer.flush(); });
}

TEST(LineWriter, AClosedPipeAndAFullDiskAreErrorsThatNameTheOutput) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_end(0);
  EXPECT_THAT(message_of_writing_to(pipe.in()), Names("out.txt ... closed"));
  const int full = open("/dev/full", O_WRONLY);
  EXPECT_THAT(message_of_writing_to(full), Names("out.txt ... No space"));
  close(full);
}

}  // namespace
}  // namespace dragoman
