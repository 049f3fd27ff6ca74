#include "data/sorted_hashes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "tests/data/text_files.h"

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

}  // namespace
}  // namespace dragoman
