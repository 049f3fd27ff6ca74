#include "extras/sample/numbers.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>

namespace dragoman {
namespace {

void expect_phrase(const Phrase& phrase, const std::string& english, const std::string& german) {
  EXPECT_EQ(phrase.english, english);
  EXPECT_EQ(phrase.german, german);
}

TEST(SampleNumbers, NumbersAreSpelledInBothLanguages) {
  struct Known {
    std::int64_t number;
    std::string english, german;
  };
  const Known known[] = {
      {0, "zero", "null"},
      {1, "one", "eins"},
      {12, "twelve", "zwölf"},
      {16, "sixteen", "sechzehn"},
      {17, "seventeen", "siebzehn"},
      {21, "twenty-one", "einundzwanzig"},
      {30, "thirty", "dreißig"},
      {66, "sixty-six", "sechsundsechzig"},
      {77, "seventy-seven", "siebenundsiebzig"},
      {100, "one hundred", "einhundert"},
      {101, "one hundred one", "einhunderteins"},
      {1001, "one thousand one", "eintausendeins"},
      {21'021, "twenty-one thousand twenty-one", "einundzwanzigtausendeinundzwanzig"},
      {101'101, "one hundred one thousand one hundred one", "einhunderteintausendeinhunderteins"},
      {342'506, "three hundred forty-two thousand five hundred six",
       "dreihundertzweiundvierzigtausendfünfhundertsechs"},
      {1'000'000, "one million", "eine Million"},
      {1'200'000, "one million two hundred thousand", "eine Million zweihunderttausend"},
      {21'000'007, "twenty-one million seven", "einundzwanzig Millionen sieben"},
  };
  for (const Known& one : known)
    expect_phrase(number_in_words(one.number), one.english, one.german);
}

/// Reads German number words back: the inverse of number_in_words below a million.
std::int64_t german_value(const std::string& words) {
  const std::size_t thousand = words.find("tausend");
  if (thousand != std::string::npos) {
    const std::string rest = words.substr(thousand + 7);
    return 1000 * german_value(words.substr(0, thousand)) + german_value(rest);
  }
  const std::size_t hundred = words.find("hundert");
  if (hundred != std::string::npos) {
    return 100 * german_value(words.substr(0, hundred)) + german_value(words.substr(hundred + 7));
  }
  static const std::map<std::string, int> kSmall = {
      {"", 0},          {"ein", 1},       {"eins", 1},      {"zwei", 2},      {"drei", 3},
      {"vier", 4},      {"fünf", 5},      {"sechs", 6},     {"sieben", 7},    {"acht", 8},
      {"neun", 9},      {"zehn", 10},     {"elf", 11},      {"zwölf", 12},    {"dreizehn", 13},
      {"vierzehn", 14}, {"fünfzehn", 15}, {"sechzehn", 16}, {"siebzehn", 17}, {"achtzehn", 18},
      {"neunzehn", 19}, {"zwanzig", 20},  {"dreißig", 30},  {"vierzig", 40},  {"fünfzig", 50},
      {"sechzig", 60},  {"siebzig", 70},  {"achtzig", 80},  {"neunzig", 90}};
  const auto found = kSmall.find(words);
  if (found != kSmall.end()) return found->second;
  const std::size_t und = words.find("und");
  if (und == std::string::npos) throw std::invalid_argument(words);
  return german_value(words.substr(0, und)) + german_value(words.substr(und + 3));
}

TEST(SampleNumbers, GermanWordsReadBackAsTheNumber) {
  for (std::int64_t number = 1; number < 1'000'000; number += number < 2'000 ? 1 : 487) {
    ASSERT_EQ(german_value(number_in_words(number).german), number);
  }
}

TEST(SampleNumbers, EnglishWordsOfDifferentNumbersDiffer) {
  std::set<std::string> words;
  for (std::int64_t number = 0; number < 20'000; ++number) {
    words.insert(number_in_words(number).english);
  }
  EXPECT_EQ(words.size(), 20'000u);
}

TEST(SampleNumbers, DigitsAreGrouped) {
  expect_phrase(number_in_digits(999), "999", "999");
  expect_phrase(number_in_digits(1'234'567), "1,234,567", "1.234.567");
}

TEST(SampleNumbers, OrdinalsKnowTheIrregularOnes) {
  expect_phrase(ordinal_in_words(1), "first", "erste");
  expect_phrase(ordinal_in_words(3), "third", "dritte");
  expect_phrase(ordinal_in_words(7), "seventh", "siebte");
  expect_phrase(ordinal_in_words(8), "eighth", "achte");
  expect_phrase(ordinal_in_words(12), "twelfth", "zwölfte");
  expect_phrase(ordinal_in_words(20), "twentieth", "zwanzigste");
  expect_phrase(ordinal_in_words(31), "thirty-first", "einunddreißigste");
}

TEST(SampleNumbers, YearsAreReadByHundreds) {
  expect_phrase(year_in_words(1987), "nineteen eighty-seven", "neunzehnhundertsiebenundachtzig");
  expect_phrase(year_in_words(1900), "nineteen hundred", "neunzehnhundert");
  expect_phrase(year_in_words(1905), "nineteen oh five", "neunzehnhundertfünf");
  expect_phrase(year_in_words(2005), "two thousand five", "zweitausendfünf");
  expect_phrase(year_in_words(2015), "twenty fifteen", "zweitausendfünfzehn");
}

TEST(SampleNumbers, DatesNameTheRightWeekday) {
  EXPECT_EQ((Date{1969, 7, 20}).weekday(), 7);
  expect_phrase(full_date({1987, 3, 3}), "March 3rd, 1987", "3. März 1987");
  expect_phrase(full_date({1990, 10, 11}), "October 11th, 1990", "11. Oktober 1990");
  expect_phrase(on_weekday_and_date({1989, 11, 9}), "on Thursday, November 9th, 1989,",
                "am Donnerstag, dem 9. November 1989,");
  expect_phrase(on_day_in_words(3, 3), "on the third of March", "am dritten März");
}

TEST(SampleNumbers, ClockTimesCountFromTheHalfHour) {
  expect_phrase(clock_time(1, 0), "one o'clock", "ein Uhr");
  expect_phrase(clock_time(1, 15), "quarter past one", "Viertel nach eins");
  expect_phrase(clock_time(3, 20), "twenty past three", "zwanzig nach drei");
  expect_phrase(clock_time(7, 25), "twenty-five past seven", "fünf vor halb acht");
  expect_phrase(clock_time(12, 30), "half past twelve", "halb eins");
  expect_phrase(clock_time(7, 35), "twenty-five to eight", "fünf nach halb acht");
  expect_phrase(clock_time(8, 45), "quarter to nine", "Viertel vor neun");
  expect_phrase(digital_time(0, 5), "12:05 a.m.", "0:05 Uhr");
  expect_phrase(digital_time(12, 0), "12:00 p.m.", "12:00 Uhr");
  expect_phrase(digital_time(15, 42), "3:42 p.m.", "15:42 Uhr");
}

TEST(SampleNumbers, PricesHaveACommaInGerman) {
  expect_phrase(price_in_digits(1250), "12.50 euros", "12,50 Euro");
  expect_phrase(price_in_digits(123405), "1,234.05 euros", "1.234,05 Euro");
  expect_phrase(price_in_digits(1200), "12 euros", "12 Euro");
  expect_phrase(price_in_words(1250), "twelve euros and fifty cents",
                "zwölf Euro und fünfzig Cent");
}

}  // namespace
}  // namespace dragoman
