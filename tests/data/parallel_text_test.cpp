#include "data/parallel_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/random.h"
#include "data/prepare.h"
#include "tests/base/gzipped.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TextIndexTest : public FolderTest {
 protected:
  TextIndexTest() {
    for (int i = 0; i < 300'000; ++i)
      text += "line " + std::to_string(i) + std::string(i % 40, 'x') + "\n";
    text += "\xFF\n";
    path = write("text", text);
  }
  /// A reading long after the file was written.
  TextReading later() const {
    return {.threads = 2,
            .index_folder = folder,
            .now = std::chrono::system_clock::now() + std::chrono::hours(1)};
  }

  std::string text, path;
};

TEST_F(TextIndexTest, AnIndexIsReadBackAsItWasStored) {
  const TextIndex index = index_of(text, later());
  const FileStamp stamp = stamp_of(path);
  const auto read = read_index(stored_index(index, stamp), stamp);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->hash, index.hash);
  EXPECT_EQ(read->lines, 300'001);
  ASSERT_TRUE(read->first_problem);
  EXPECT_EQ(read->first_problem->line, 300'000);
  EXPECT_THAT(read->first_problem->fault, Names("UTF-8 ... FF"));
  for (const std::int64_t line : {0, 1, 63, 64, 100'000, 299'999})
    EXPECT_TRUE(
        text.substr(read->start_of(line, text)).starts_with("line " + std::to_string(line)));
}

TEST_F(TextIndexTest, AnIndexOfAnotherStateOfTheFileIsRefused) {
  const FileStamp stamp{.size = 5, .inode = 6, .modified = 7, .changed = 8};
  const std::string stored = stored_index(index_of("a\nb\nc", later()), stamp);
  EXPECT_TRUE(read_index(stored, stamp));
  for (std::int64_t FileStamp::*part :
       {&FileStamp::size, &FileStamp::inode, &FileStamp::modified, &FileStamp::changed}) {
    FileStamp other = stamp;
    ++(other.*part);
    EXPECT_FALSE(read_index(stored, other));
  }
  for (std::size_t i = 0; i < stored.size(); ++i) {
    std::string damaged = stored;
    damaged[i] ^= 4;
    EXPECT_FALSE(read_index(damaged, stamp));
    EXPECT_FALSE(read_index(stored.substr(0, i), stamp));
  }
}

TEST_F(TextIndexTest, ASecondReadingTakesTheStoredIndex) {
  const TextFile first(path, later());
  ASSERT_TRUE(first.new_index());
  const FileStamp stamp = stamp_of(path);
  TextIndex marked = *read_index(*first.new_index(), stamp);
  marked.hash ^= 1;
  write_file(index_path(folder, path), stored_index(marked, stamp));
  const TextFile second(path, later());
  EXPECT_EQ(second.hash(), marked.hash) << "the file was read again";
  EXPECT_FALSE(second.new_index());
  EXPECT_EQ(second.line(299'999), first.line(299'999));

  write("text", text);
  EXPECT_EQ(TextFile(path, later()).hash(), first.hash())
      << "a file that was written again is read again";
}

TEST_F(TextIndexTest, NoIndexIsStoredForAFileThatHasJustChanged) {
  TextReading at_once = later();
  at_once.now = std::chrono::system_clock::now();
  EXPECT_FALSE(TextFile(path, at_once).new_index());
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

class ParallelTextTest : public FolderTest {
 protected:
  ParallelText open(std::string_view source, std::string_view target,
                    InvalidLines invalid = InvalidLines::Error) const {
    return ParallelText({write("a.en", source)}, {write("a.de", target)}, invalid, {.threads = 2});
  }
  static Pairs all(const ParallelText& text) {
    Pairs pairs;
    text.for_each_pair(0, text.pairs(), [&](std::int64_t, auto source, auto target) {
      pairs.emplace_back(source, target);
    });
    return pairs;
  }
  /// The error of opening a good source with this target, without the name of the folder.
  std::string problem(std::string_view source, std::string_view target) const {
    std::string message = message_of<Error>([&] { open(source, target); });
    const std::string prefix = folder.string() + "/";
    for (std::size_t at; (at = message.find(prefix)) != message.npos;)
      message.erase(at, prefix.size());
    return message;
  }
};

TEST_F(ParallelTextTest, CarriageReturnsAndByteOrderMarksAreNotPartOfTheText) {
  EXPECT_EQ(all(open("\xEF\xBB\xBFone\r\ntwo\r\n", "eins\nzwei")),
            (Pairs{{"one", "eins"}, {"two", "zwei"}}));
}

TEST_F(ParallelTextTest, CompressedFilesAreReadAsIfTheyWerePlain) {
  const ParallelText packed = open("one\ntwo\n", kGzipped),
                     plain = open("one\ntwo\n", "eins\nzwei\n");
  EXPECT_EQ(all(packed), all(plain));
  EXPECT_EQ(packed.hash(), plain.hash());
  TextReading reading = {.threads = 2};
  reading.index_folder = folder / "corpus";
  const std::string source = write("a.en", "one\ntwo\n"), target = write("a.de.gz", kGzipped);
  EXPECT_EQ(all(ParallelText({source}, {target}, InvalidLines::Error, reading)), all(plain));
  EXPECT_TRUE(std::filesystem::is_empty(folder / "corpus")) << "nothing is left there";
  EXPECT_THAT(problem("one\n", kGzipped.substr(0, 12)), Names("a.de ... compressed"));
}

TEST_F(ParallelTextTest, APipeIsRefusedAtOnce) {
  const std::string pipe = (folder / "pipe").string(), target = write("a.de", "eins\n");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(message_of<Error>(
                  [&] { ParallelText({pipe}, {target}, InvalidLines::Error, {.threads = 2}); }),
              Names(pipe + " ... regular file"));
}

TEST_F(ParallelTextTest, FilesThatAreNotUtf8TextAreNamed) {
  EXPECT_THAT(problem("one\n",
                      "\xff\xfe"
                      "e"),
              HasSubstr("a.de: is UTF-16"));
  EXPECT_THAT(problem("one\n", "BZh91AY&SY"), Names("a.de ... bzip2"));
}

TEST_F(ParallelTextTest, OnlyLineFeedEndsALine) {
  EXPECT_EQ(all(open("a\rb\u2028c\u0085d\fe\vf\n\n", "x\n\n")),
            (Pairs{{"a\rb\u2028c\u0085d\fe\vf", "x"}, {"", ""}}));
  EXPECT_EQ(all(open("a\r\r\n\xEF\xBB\xBF"
                     "b\n",
                     "x\n\r\n")),
            (Pairs{{"a\r", "x"},
                   {"\uFEFF"
                    "b",
                    ""}}));
}

TEST_F(ParallelTextTest, ALastLineNeedsNoEnd) {
  EXPECT_EQ(open("a\nb", "x\ny\n").pairs(), 2);
  EXPECT_EQ(open("a\nb\n\n", "x\ny\nz").pairs(), 3);
}

TEST_F(ParallelTextTest, UnequalNumbersOfLinesAreNamed) {
  EXPECT_THAT(problem("1\n2\n3\n", "1\n2\n3\n4\n"),
              Names("a.en ... 3 lines ... a.de ... 4 lines ... paste a.en a.de | less"));
}

TEST_F(ParallelTextTest, EmptyAndMissingFilesAreNamed) {
  EXPECT_EQ(problem("", "x\n"), "a.en: is empty");
  EXPECT_EQ(problem("x\n", "\xEF\xBB\xBF"), "a.de: is empty");
  EXPECT_THAT(message_of<Error>([&] {
                ParallelText({folder / "none"}, {folder / "none"}, InvalidLines::Error,
                             {.threads = 2});
              }),
              HasSubstr("none: cannot open"));
  EXPECT_THAT(message_of<Error>(
                  [&] { ParallelText({folder}, {folder}, InvalidLines::Error, {.threads = 2}); }),
              Names("regular file"));
}

TEST_F(ParallelTextTest, InvalidUtf8AndNulAreNamedWithTheirLine) {
  EXPECT_THAT(problem("a\nb\nc\xFF\nd\n", "1\n2\n3\n4\n"), Names("a.en:3 ... UTF-8 ... FF"));
  EXPECT_THAT(problem("a\nb\nc\nd\n", std::string_view("1\n2\n3\n\0\n", 8)),
              HasSubstr("a.de:4: NUL byte"));
  EXPECT_THAT(problem("a\xE2\x82\nb\n", "1\n2\n"), Names("a.en:1 ... UTF-8 ... E2"));
  EXPECT_THAT(problem("a\nb\xC3", "1\n2\n"), HasSubstr("a.en:2: "));
}

TEST_F(ParallelTextTest, InvalidLinesCanBeLetThrough) {
  const ParallelText text = open("a\nb\xFF\n", "1\n2\n", InvalidLines::Skip);
  EXPECT_TRUE(text.is_valid("a", "1"));
  EXPECT_FALSE(text.is_valid("b\xFF", "2"));
  EXPECT_EQ(text.pairs(), 2);
}

TEST_F(ParallelTextTest, FilesOfASideFollowOneAnother) {
  const ParallelText text({write("1.en", "a\nb"), write("2.en", "c\n")},
                          {write("1.de", "A\nB\n"), write("2.de", "C")}, InvalidLines::Error,
                          {.threads = 2});
  EXPECT_EQ(all(text), (Pairs{{"a", "A"}, {"b", "B"}, {"c", "C"}}));
  std::vector<std::int64_t> numbers;
  text.for_each_pair(1, 3, [&](std::int64_t pair, auto, auto) { numbers.push_back(pair); });
  EXPECT_THAT(numbers, ElementsAre(1, 2));
}

/// Text that is read in several pieces, with lines across their borders.
std::string long_text(std::vector<std::string>& lines) {
  RandomStream random(3);
  std::string text;
  while (text.size() < (std::size_t{9} << 20)) {
    const std::size_t size = random.chance(0.0005) ? (std::size_t{1} << 19) : random.below(400);
    lines.push_back(std::to_string(lines.size()) + std::string(size, 'x'));
    text += lines.back() + "\n";
  }
  return text;
}

TEST_F(ParallelTextTest, AnyLineOfALongFileIsFound) {
  std::vector<std::string> lines;
  const TextFile file(write("long", long_text(lines)), {.threads = 2});
  ASSERT_EQ(file.lines(), static_cast<std::int64_t>(lines.size()));
  for (std::size_t i = 0; i < lines.size(); i += 97)
    ASSERT_EQ(file.line(static_cast<std::int64_t>(i)), lines[i]);
  EXPECT_EQ(file.line(file.lines() - 1), lines.back());
}

TEST_F(ParallelTextTest, ALineThatStartsAtTheBeginningOfAStretchIsFound) {
  std::string text;
  while (text.size() < (std::size_t{5} << 20)) text += std::string(63, 'a') + "\n";
  const TextFile file(write("even", text), {.threads = 2});
  EXPECT_EQ(file.lines(), static_cast<std::int64_t>(text.size() / 64));
}

TEST_F(ParallelTextTest, TheLineOfAProblemIsRightFarIntoAFile) {
  std::vector<std::string> lines;
  std::string text = long_text(lines);
  const std::size_t at = text.size() - text.size() / 10;
  const auto line = std::count(text.begin(), text.begin() + at, '\n');
  text[at] = static_cast<char>(text[at] == '\n' ? 'x' : '\xFE');
  for (const int threads : {1, 3}) {
    const TextFile file(write("long", text), {.threads = threads});
    ASSERT_TRUE(file.first_problem());
    EXPECT_EQ(file.first_problem()->line, line);
  }
}

TEST_F(ParallelTextTest, ALineLongerThanAStretchIsOneLine) {
  const std::string line(std::size_t{11} << 20, 'y');
  const TextFile file(write("long", "a\n" + line + "\nb\n"), {.threads = 2});
  EXPECT_EQ(file.lines(), 3);
  EXPECT_TRUE(file.line(1) == line);
  EXPECT_EQ(file.line(2), "b");
}

TEST_F(ParallelTextTest, TheHashDependsOnTheTextAlone) {
  std::vector<std::string> lines;
  std::string text = long_text(lines);
  const std::uint64_t hash = TextFile(write("1", text), {.threads = 1}).hash();
  EXPECT_EQ(TextFile(write("2", text), {.threads = 3}).hash(), hash);
  text[text.size() / 2] ^= 1;
  EXPECT_NE(TextFile(write("3", text), {.threads = 2}).hash(), hash);
  EXPECT_NE(open("a\nb\n", "c\n\n").hash(), open("a\n\n", "b\nc\n").hash());
}

TEST_F(ParallelTextTest, ReadingStopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  const TextReading stopped = {.threads = 2, .stop = stop.get_token()};
  EXPECT_THROW(TextFile(write("a", "text\n"), stopped), PreparationStopped);
}

TEST_F(ParallelTextTest, AFileThatIsWrittenToWhileItIsReadIsAnError) {
  const ParallelText text = open("one\ntwo\n", "eins\nzwei\n");
  EXPECT_NO_THROW(text.require_unchanged());
  std::filesystem::rename(folder / "a.de", folder / "b.de");
  write("a.de", "another file\n");
  EXPECT_NO_THROW(text.require_unchanged()) << "the old file is still read";
  std::filesystem::remove(folder / "a.de");
  EXPECT_NO_THROW(text.require_unchanged());
  std::ofstream(folder / "a.en", std::ios::app) << "three\n";
  EXPECT_THAT(message_of<Error>([&] { text.require_unchanged(); }), Names("a.en ... changed"));
}

}  // namespace

}  // namespace dragoman
