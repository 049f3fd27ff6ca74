#include "data/trained_pairs.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"

namespace dragoman {
namespace {

TEST(HashFilter, ItFindsWhatWasAddedAndHardlyAnythingElse) {
  RandomStream random(1), others(2);
  HashFilter filter(10'000);
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(filter.add(random())) << i;
  RandomStream again(1);
  int mistaken = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_TRUE(filter.contains(again()));
    mistaken += filter.contains(others());
  }
  EXPECT_LE(mistaken, 5);
  EXPECT_TRUE(filter.add(RandomStream(1)()));
  EXPECT_LE(filter.bytes().size(), 25'100u);
}

TEST(HashFilter, ItsBytesAreReadAgainAndDamageIsNoticed) {
  HashFilter filter(100);
  filter.add(7);
  const std::string bytes = filter.bytes();
  EXPECT_TRUE(HashFilter(bytes, "file").contains(7));
  EXPECT_EQ(HashFilter(bytes, "file").bytes(), bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(HashFilter(bytes.substr(0, size), "file"), Error);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] ^= 1;
    EXPECT_THROW(HashFilter(damaged, "file"), Error);
  }
}

TEST(LikenessHash, PairsWithTheSameLettersAndDigitsAreAlike) {
  const auto hash = likeness_hash("A man, 7 dogs.", "Ein Mann, 7 Hunde.");
  EXPECT_EQ(likeness_hash("a  man 7 dogs!", "EIN MANN: 7 Hunde"), hash);
  EXPECT_NE(likeness_hash("A man, 8 dogs.", "Ein Mann, 7 Hunde."), hash);
  EXPECT_NE(likeness_hash("A man, 7 dogs.", "Ein Mann, 7 Hund."), hash);
  EXPECT_EQ(likeness_hash("Caf\u00E9", "x"), likeness_hash("cafe\u0301", "x"));
  EXPECT_NE(likeness_hash("...", "!"), likeness_hash("...", "?")) << "of signs alone";
}

}  // namespace
}  // namespace dragoman
