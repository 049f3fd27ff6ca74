// Numbers, ordinals, dates, clock times and prices of the sample corpus, in English and German.
// All functions are pure; each English text determines the German one.
#pragma once

#include <cstdint>
#include <string>

#include "extras/sample/text.h"

namespace dragoman {

/// "three hundred forty-two thousand six" / "dreihundertzweiundvierzigtausendsechs";
/// 0 <= number < 1,000,000,000. German spells 100 and 1000 out: "einhundert", "eintausend".
Phrase number_in_words(std::int64_t number);

/// "1,234,567" / "1.234.567".
Phrase number_in_digits(std::int64_t number);

/// "third" / "dritte", 1 <= number <= 31; the German form is the weak nominative.
Phrase ordinal_in_words(int number);

/// "nineteen eighty-seven" / "neunzehnhundertsiebenundachtzig"; 1100 <= year < 2100.
Phrase year_in_words(int year);

/// Monday is 1; "Monday" / "Montag".
Phrase weekday_name(int weekday);

struct Date {
  int year = 2000, month = 1, day = 1;
  int weekday() const;  ///< Monday is 1; Gregorian calendar
};

/// "March 3rd, 1987" / "3. März 1987".
Phrase full_date(const Date& date);

/// "on Monday, March 3rd, 1987," / "am Montag, dem 3. März 1987,": both with the closing comma,
/// which sentence_of() drops at the end.
Phrase on_weekday_and_date(const Date& date);

/// "on the third of March" / "am dritten März".
Phrase on_day_in_words(int month, int day);

/// "half past seven" / "halb acht", "quarter to nine" / "Viertel vor neun", "one o'clock" /
/// "ein Uhr"; 1 <= hour <= 12, minute a multiple of 5.
Phrase clock_time(int hour, int minute);

/// "3:05 p.m." / "15:05 Uhr"; 0 <= hour < 24.
Phrase digital_time(int hour, int minute);

/// "12.50 euros" / "12,50 Euro"; "12 euros" / "12 Euro" where the cents are 0.
Phrase price_in_digits(std::int64_t cents);

/// "twelve euros and fifty cents" / "zwölf Euro und fünfzig Cent"; at least two euros, and no cents
/// or at least two.
Phrase price_in_words(std::int64_t cents);

}  // namespace dragoman
