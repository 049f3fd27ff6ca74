#include "data/text_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/parallel_text.h"
#include "tests/data/text_files.h"

namespace dragoman {
namespace {

class TextIndexTest : public FolderTest {
 protected:
  TextIndexTest() {
    for (int i = 0; i < 300'000; ++i)
      text += "line " + std::to_string(i) + std::string(i % 40, 'x') + "\n";
    text += "\xFF\n";
    path = write("text", text);
  }
  /// Long after the file was written.
  TextReading later() const {
    return {.threads = 2,
            .stop = {},
            .report = [](std::int64_t) {},
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
  EXPECT_EQ(read->first_problem->fault, "invalid UTF-8 (byte FF)");
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
  EXPECT_EQ(TextFile(path, later()).hash(), first.hash()) << "a file written anew is read anew";
}

TEST_F(TextIndexTest, NoIndexIsStoredForAFileThatHasJustChanged) {
  TextReading at_once = later();
  at_once.now = std::chrono::system_clock::now();
  EXPECT_FALSE(TextFile(path, at_once).new_index());
}

}  // namespace
}  // namespace dragoman
