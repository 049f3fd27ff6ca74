#include "base/bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"

namespace dragoman {
namespace {

std::string of(std::string_view text) { return base64(std::as_bytes(std::span(text))); }

TEST(Base64, TheStandardsExamplesAreReproduced) {
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
  EXPECT_EQ(of("\xFF\xFE\xFD"), "//79");
}

TEST(Checksum, OnlyTheBytesThatWereWrittenComeBack) {
  for (const std::string text : {"", "some bytes"}) {
    const std::string stored = with_checksum(text);
    EXPECT_EQ(without_checksum(stored), text);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      EXPECT_EQ(without_checksum(std::string_view(stored).substr(0, i)), std::nullopt);
      std::string changed = stored;
      changed[i] ^= 1;
      EXPECT_EQ(without_checksum(changed), std::nullopt) << i;
    }
  }
}

TEST(NumberFrom, TheWholeTextIsTheNumber) {
  EXPECT_EQ(number_from<int>("0"), 0);
  EXPECT_EQ(number_from<int>("-17"), -17);
  EXPECT_EQ(number_from<unsigned>("1fF", 16), 0x1FFU);
  EXPECT_EQ(number_from<double>("-2.5e1"), -25.0);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "1a", "0x1", "2147483648"})
    EXPECT_EQ(number_from<int>(text), std::nullopt) << text;
  EXPECT_EQ(number_from<unsigned>("-1"), std::nullopt);
  EXPECT_EQ(number_from<unsigned char>("1FF", 16), std::nullopt);
  EXPECT_EQ(number_from<double>("1,5"), std::nullopt);
}

/// The number that the bits stand for, by the standard's definition.
double number_of(std::uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(HalfOf, EveryHalfIsItself) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if ((half & 0x7C00) == 0x7C00) continue;  // not a number
    EXPECT_EQ(half_of(static_cast<float>(number_of(half))), half);
  }
}

TEST(HalfOf, NoOtherHalfIsNearer) {
  RandomStream random(5);
  for (int i = 0; i < 2000; ++i) {
    const float value = std::ldexp(static_cast<float>(2 * random.uniform() - 1),
                                   static_cast<int>(random.below(40)) - 24);
    const std::uint16_t half = half_of(value);
    const double error = std::abs(number_of(half) - static_cast<double>(value));
    for (const int other : {half - 1, half + 1})
      if ((other & 0x7C00) != 0x7C00 && (other & 0x8000) == (half & 0x8000)) {
        EXPECT_LE(error, std::abs(number_of(static_cast<std::uint16_t>(other)) -
                                  static_cast<double>(value)));
      }
  }
}

TEST(HalfOf, TiesGoToTheEvenHalf) {
  EXPECT_EQ(half_of(1 + 0x1p-11F), 0x3C00);
  EXPECT_EQ(half_of(1 + 0x3p-11F), 0x3C02);
  EXPECT_EQ(half_of(0x1p-25F), 0);
}

TEST(HalfOf, NumbersBeyondTheLargestAreInfinite) {
  EXPECT_EQ(half_of(65519), 0x7BFF);
  EXPECT_EQ(half_of(65520), 0x7C00);
  EXPECT_EQ(half_of(-std::numeric_limits<float>::infinity()), 0xFC00);
  EXPECT_EQ(half_of(std::numeric_limits<float>::quiet_NaN()) & 0x7FFF, 0x7E00);
}

}  // namespace
}  // namespace dragoman
