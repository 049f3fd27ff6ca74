#include "data/pair_selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "tests/folder_test.h"
#include "tests/names.h"

namespace dragoman {

namespace {

class SortedHashesTest : public FolderTest {
 protected:
  std::vector<std::uint64_t> sorted(const std::vector<std::uint64_t>& hashes,
                                    std::size_t most_in_memory) const {
    SortedHashes sort({.folder = folder, .most_in_memory = most_in_memory});
    for (std::size_t i = 0; i < hashes.size(); i += 7)
      sort.add(std::span(hashes).subspan(i, std::min<std::size_t>(7, hashes.size() - i)));
    std::vector<std::uint64_t> result;
    sort.for_each([&](std::uint64_t hash) {
      EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the file has a name";
      result.push_back(hash);
    });
    return result;
  }
};

TEST_F(SortedHashesTest, HashesAreTheSameForAnyMemory) {
  RandomStream random(3);
  std::vector<std::uint64_t> hashes(1000);
  for (std::uint64_t& hash : hashes) hash = random.below(700) << 40;
  std::vector<std::uint64_t> expected = hashes;
  std::sort(expected.begin(), expected.end());
  for (const std::size_t most : {1, 7, 100, 250, 999, 1000, 1001})
    EXPECT_EQ(sorted(hashes, most), expected) << most;
  EXPECT_TRUE(sorted({}, 10).empty());
}

TEST_F(SortedHashesTest, AFolderThatCannotBeWrittenIsNamed) {
  SortedHashes sort({.folder = folder / "none", .most_in_memory = 1});
  const std::uint64_t hashes[] = {1, 2};
  EXPECT_TRUE(message_of<Error>([&] { sort.add(hashes); }).starts_with((folder / "none").string()));
}

class PairSelectionTest : public FolderTest {
 protected:
  /// Two files of 2,000 pairs each, with many copies in and between them.
  PairSelectionTest() {
    RandomStream random(8);
    for (const std::string name : {"a", "b"}) {
      std::string source, target;
      for (int i = 0; i < 2000; ++i) {
        source += "source " + std::to_string(random.below(70)) + "\n";
        target += "target " + std::to_string(random.below(40)) + "\n";
      }
      data.train_source.push_back(write(name + ".en", source));
      data.train_target.push_back(write(name + ".de", target));
    }
    data.valid_fraction = 0.05;
  }
  std::vector<Fate> fates(std::size_t most_in_memory) const {
    const ParallelText text(data.train_source, data.train_target, data.invalid, {.threads = 2});
    const WorkContext context{.threads = 2, .report = [](std::int64_t, std::int64_t) {}};
    std::filesystem::create_directory(folder / "cache");
    PairSelection selection(text, data, 3, context,
                            {.folder = folder / "cache", .most_in_memory = most_in_memory});
    EXPECT_TRUE(std::filesystem::is_empty(folder / "cache"));
    std::vector<Fate> fates;
    text.for_each_pair(0, text.pairs(), [&](std::int64_t pair, auto source, auto target) {
      fates.push_back(selection.next(pair, pair_hash(source, target)));
      texts[pair] = std::string(source) + "\t" + std::string(target);
    });
    return fates;
  }

  DataConfig data;
  mutable std::map<std::int64_t, std::string> texts;
};

TEST_F(PairSelectionTest, TheSelectionIsTheSameOnDiskAndInMemory) {
  for (const bool keep_duplicates : {false, true}) {
    data.keep_duplicates = keep_duplicates;
    const auto in_memory = fates(1'000'000);
    EXPECT_GT(std::count(in_memory.begin(), in_memory.end(), Fate::Duplicate), 100);
    EXPECT_GE(std::count(in_memory.begin(), in_memory.end(), Fate::HoldOut), 100);
    for (const std::size_t most : {1, 100, 3999, 4000}) EXPECT_EQ(fates(most), in_memory) << most;
  }
}

TEST_F(PairSelectionTest, OnlyPairsOfFilesWithoutATagAreHeldOut) {
  data.corpus_tags = {"<bt>", ""};
  const auto with_tag = fates(1000);
  std::set<std::string> held_out;
  for (std::size_t i = 0; i < with_tag.size(); ++i)
    if (with_tag[i] == Fate::HoldOut) {
      EXPECT_GE(i, 2000u);
      EXPECT_TRUE(held_out.insert(texts.at(static_cast<std::int64_t>(i))).second);
    }
  EXPECT_GE(held_out.size(), 60u);
  bool tagged_copy = false;
  for (std::size_t i = 0; i < with_tag.size(); ++i)
    if (with_tag[i] != Fate::HoldOut && held_out.contains(texts.at(static_cast<std::int64_t>(i)))) {
      EXPECT_EQ(with_tag[i], Fate::Duplicate);
      tagged_copy |= i < 2000;
    }
  EXPECT_TRUE(tagged_copy) << "the text has no tagged copy of a held-out pair";

  data.corpus_tags = {"<a>", "<b>"};
  EXPECT_GT(std::count(with_tag.begin(), with_tag.end(), Fate::HoldOut), 0);
  const auto all_tagged = fates(1000);
  EXPECT_GT(std::count(all_tagged.begin(), all_tagged.begin() + 2000, Fate::HoldOut), 0);
}

}  // namespace

}  // namespace dragoman
