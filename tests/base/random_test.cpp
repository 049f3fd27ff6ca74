#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace dragoman {
namespace {

TEST(RandomBits, BitsAreThoseOfSplitMix64) {
  // The first numbers of the published generator (Vigna, prng.di.unimi.it/splitmix64.c), seed 0.
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15u), 0x6E789E6AA1B965F4u);
}

TEST(RandomBits, BitsDifferIfAnyKeyOrTheOrderOfKeysDiffers) {
  std::set<std::uint64_t> seen;
  for (int seed = 0; seed < 10; ++seed)
    for (int epoch = 0; epoch < 10; ++epoch)
      for (int pair = 0; pair < 10; ++pair) seen.insert(random_bits(seed, epoch, pair));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(RandomStream, EqualKeysGiveEqualDraws) {
  RandomStream a(3, 4), b(3, 4), other(4, 3);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto draw = a();
    EXPECT_EQ(draw, b());
    differs |= draw != other();
  }
  EXPECT_TRUE(differs);
}

TEST(RandomStream, EachNumberBelowTheBoundIsDrawnAboutAsOften) {
  RandomStream random(1);
  int counts[6] = {};
  for (int i = 0; i < 60'000; ++i) ++counts[random.below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);  // 5.5 standard deviations
}

TEST(RandomStream, UniformDrawsHaveTheirMeanAndStayBelowOne) {
  RandomStream random(1);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double draw = random.uniform();
    ASSERT_TRUE(draw >= 0 && draw < 1);
    sum += draw;
  }
  EXPECT_NEAR(sum / 10'000, 0.5, 0.015);
  EXPECT_EQ(uniform_of(~std::uint64_t{0}), 1 - 0x1.0p-53);
}

TEST(RandomStream, AShuffleLosesNothing) {
  std::vector<int> items(100);
  std::iota(items.begin(), items.end(), 0);
  auto shuffled = items;
  RandomStream(1).shuffle(shuffled);
  EXPECT_NE(shuffled, items);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, items);
}

}  // namespace
}  // namespace dragoman
