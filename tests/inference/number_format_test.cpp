#include "inference/number_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace dragoman {
namespace {

TEST(NumberFormat, TextThatIsNoNumberOfTheSourceStays) {
  const NumberConversion conversion("en-de");
  for (const std::string text : {"", "7", "2020", "1,23", "1.2.3", "1,2345", "1234,567", "3.", "a",
                                 "12:30", "2020-01-31", "1,234,56", "http://a.b/1,234"})
    EXPECT_EQ(conversion(text), text);
}

TEST(NumberFormat, GroupsAndDecimalsChange) {
  EXPECT_EQ(NumberConversion("en-de")("1,234.5"), "1.234,5");
  EXPECT_EQ(NumberConversion("de-en")("1.234,5"), "1,234.5");
  EXPECT_EQ(NumberConversion("en-cs")("1,234,567"), "1\u00a0234\u00a0567");
  EXPECT_EQ(NumberConversion("cs-fr")("1\u202f234,5"), "1\u202f234,5");
  EXPECT_EQ(NumberConversion("en-ja")("1,234.5"), "1,234.5");
}

TEST(NumberFormat, UnknownLanguagesAreNamedWithTheKnownOnes) {
  for (const std::string pair : {"", "de", "en-", "-de", "en-xx", "EN-de", "en-de-fr"}) {
    try {
      const NumberConversion conversion(pair);
      FAIL() << pair;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("--number-format " + pair + ": must be two of"));
    }
  }
}

}  // namespace
}  // namespace dragoman
