#include "evaluation/numpy_random.h"

#include <gtest/gtest.h>

namespace dragoman {
namespace {

// The expected values are those of NumPy 2.4 (Python 3.11).

TEST(NumpyRandom, NumbersAreThoseOfNumpysDefaultGenerator) {
  NumpyRandom below(12345), whole(12345);
  for (const std::uint32_t expected : {2100, 682, 2369, 951, 613, 2395, 1930, 2031})
    EXPECT_EQ(below.below(3004), expected);
  EXPECT_EQ(below.next64() >> 1, 3607348892368485766U);
  EXPECT_EQ(below.next64() >> 1, 3069666675758614433U);
  EXPECT_EQ(whole.next32() & 0xFF, 0b10011101U);  // the first bits of integers(2)
  EXPECT_EQ(NumpyRandom(1).below(1), 0U);
}

}  // namespace
}  // namespace dragoman
