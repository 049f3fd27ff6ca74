#include "extras/sample/numbers.h"

#include <array>
#include <chrono>
#include <string_view>

namespace dragoman {
namespace {

constexpr std::array<std::string_view, 20> kEnglishOnes = {
    "zero",     "one",     "two",     "three",     "four",     "five",    "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<std::string_view, 10> kEnglishTens = {
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
constexpr std::array<std::string_view, 20> kGermanOnes = {
    "null",     "eins",     "zwei",     "drei",     "vier",     "fünf",    "sechs",
    "sieben",   "acht",     "neun",     "zehn",     "elf",      "zwölf",   "dreizehn",
    "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<std::string_view, 10> kGermanTens = {
    "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

std::string english_below_100(int number) {
  if (number < 20) return std::string(kEnglishOnes[number]);
  std::string text(kEnglishTens[number / 10]);
  if (number % 10 != 0) text.append("-").append(kEnglishOnes[number % 10]);
  return text;
}

std::string english_below_1000(int number) {
  if (number < 100) return english_below_100(number);
  const std::string rest = number % 100 == 0 ? "" : english_below_100(number % 100);
  return join_words({kEnglishOnes[number / 100], "hundred", rest});
}

std::string english_number(std::int64_t number) {
  if (number == 0) return "zero";
  std::string text;
  const auto add = [&text](std::int64_t group, std::string_view unit) {
    if (group == 0) return;
    text = join_words({text, english_below_1000(static_cast<int>(group)), unit});
  };
  add(number / 1'000'000, "million");
  add(number / 1'000 % 1'000, "thousand");
  add(number % 1'000, "");
  return text;
}

/// `one` is how a final 1 is written: "eins" alone, "ein" before a unit.
std::string german_below_100(int number, std::string_view one) {
  if (number == 1) return std::string(one);
  if (number < 20) return std::string(kGermanOnes[number]);
  const std::string_view ones = number % 10 == 1 ? "ein" : kGermanOnes[number % 10];
  std::string text;
  if (number % 10 != 0) text.append(ones).append("und");
  return text.append(kGermanTens[number / 10]);
}

std::string german_below_1000(int number, std::string_view one) {
  if (number < 100) return german_below_100(number, one);
  const std::string_view hundreds = number / 100 == 1 ? "ein" : kGermanOnes[number / 100];
  std::string text = std::string(hundreds) + "hundert";
  if (number % 100 != 0) text += german_below_100(number % 100, one);
  return text;
}

std::string german_number(std::int64_t number) {
  if (number == 0) return "null";
  const int millions = static_cast<int>(number / 1'000'000);
  const int thousands = static_cast<int>(number / 1'000 % 1'000);
  const int rest = static_cast<int>(number % 1'000);
  std::string text;
  if (millions == 1) text = "eine Million";
  if (millions > 1) text = german_below_1000(millions, "eine") + " Millionen";
  if (millions > 0 && thousands + rest > 0) text += " ";
  if (thousands > 0) text += german_below_1000(thousands, "ein") + "tausend";
  if (rest > 0) text += german_below_1000(rest, "eins");
  return text;
}

std::string grouped_digits(std::int64_t number, char separator) {
  std::string text = std::to_string(number);
  for (std::size_t place = text.size(); place > 3; place -= 3) text.insert(place - 3, 1, separator);
  return text;
}

std::string english_ordinal_digits(int number) {
  const bool teen = number / 10 % 10 == 1;
  const int last = teen ? 0 : number % 10;
  const std::string_view ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return std::to_string(number).append(ending);
}

std::string english_ordinal(int number) {
  constexpr std::array<std::string_view, 20> kOrdinals = {
      "",          "first",     "second",      "third",      "fourth",
      "fifth",     "sixth",     "seventh",     "eighth",     "ninth",
      "tenth",     "eleventh",  "twelfth",     "thirteenth", "fourteenth",
      "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
  if (number < 20) return std::string(kOrdinals[number]);
  if (number % 10 == 0) return number == 20 ? "twentieth" : "thirtieth";
  return std::string(kEnglishTens[number / 10]).append("-").append(kOrdinals[number % 10]);
}

std::string german_ordinal(int number) {
  if (number == 1) return "erste";
  if (number == 3) return "dritte";
  if (number == 7) return "siebte";
  if (number == 8) return "achte";
  return german_below_100(number, "ein") + (number < 20 ? "te" : "ste");
}

/// January is 1; "January" / "Januar".
Phrase month_name(int month) {
  constexpr std::array<std::string_view, 13> kEnglish = {
      "",     "January", "February",  "March",   "April",    "May",     "June",
      "July", "August",  "September", "October", "November", "December"};
  constexpr std::array<std::string_view, 13> kGerman = {
      "",     "Januar", "Februar",   "März",    "April",    "Mai",     "Juni",
      "Juli", "August", "September", "Oktober", "November", "Dezember"};
  return {std::string(kEnglish[month]), std::string(kGerman[month])};
}

}  // namespace

Phrase number_in_words(std::int64_t number) {
  return {english_number(number), german_number(number)};
}

Phrase number_in_digits(std::int64_t number) {
  return {grouped_digits(number, ','), grouped_digits(number, '.')};
}

Phrase ordinal_in_words(int number) { return {english_ordinal(number), german_ordinal(number)}; }

Phrase year_in_words(int year) {
  const int century = year / 100, rest = year % 100;
  if (century == 20 && rest < 10) return number_in_words(year);
  std::string english = english_below_100(century);
  if (rest == 0) {
    english += " hundred";
  } else {
    english += (rest < 10 ? " oh " : " ") + english_below_100(rest);
  }
  if (century == 20) return {english, german_number(year)};
  std::string german = german_below_100(century, "ein") + "hundert";
  if (rest > 0) german += german_below_100(rest, "eins");
  return {english, german};
}

Phrase weekday_name(int weekday) {
  constexpr std::array<std::string_view, 8> kEnglish = {
      "", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
  constexpr std::array<std::string_view, 8> kGerman = {
      "", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"};
  return {std::string(kEnglish[weekday]), std::string(kGerman[weekday])};
}

int Date::weekday() const {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month(month),
                            std::chrono::day(day)};
  return static_cast<int>(std::chrono::weekday{sys_days{date}}.iso_encoding());
}

Phrase full_date(const Date& date) {
  const Phrase month = month_name(date.month);
  return {month.english + " " + english_ordinal_digits(date.day) + ", " + std::to_string(date.year),
          std::to_string(date.day) + ". " + month.german + " " + std::to_string(date.year)};
}

Phrase on_weekday_and_date(const Date& date) {
  const Phrase weekday = weekday_name(date.weekday()), day = full_date(date);
  return {"on " + weekday.english + ", " + day.english + ",",
          "am " + weekday.german + ", dem " + day.german + ","};
}

Phrase on_day_in_words(int month, int day) {
  const Phrase ordinal = ordinal_in_words(day), name = month_name(month);
  return {"on the " + ordinal.english + " of " + name.english,
          "am " + ordinal.german + "n " + name.german};
}

Phrase clock_time(int hour, int minute) {
  const int next = hour % 12 + 1;
  const bool before_next = minute > 30;
  const int distance = before_next ? 60 - minute : minute;
  std::string english(kEnglishOnes[before_next ? next : hour]);
  std::string german(kGermanOnes[before_next ? next : hour]);
  if (minute == 0) return {english + " o'clock", (hour == 1 ? "ein" : german) + " Uhr"};
  if (minute == 30) return {"half past " + english, "halb " + std::string(kGermanOnes[next])};
  const std::string steps = distance == 15 ? "quarter" : english_below_100(distance);
  english = steps + (before_next ? " to " : " past ") + english;
  if (distance == 25) {  // counted from the half hour
    german = (before_next ? "fünf nach halb " : "fünf vor halb ") + std::string(kGermanOnes[next]);
  } else {
    const std::string minutes = distance == 15 ? "Viertel" : german_below_100(distance, "eins");
    german = minutes + (before_next ? " vor " : " nach ") + german;
  }
  return {english, german};
}

Phrase digital_time(int hour, int minute) {
  const std::string minutes = (minute < 10 ? ":0" : ":") + std::to_string(minute);
  return {std::to_string((hour + 11) % 12 + 1) + minutes + (hour < 12 ? " a.m." : " p.m."),
          std::to_string(hour) + minutes + " Uhr"};
}

Phrase price_in_digits(std::int64_t cents) {
  Phrase price = number_in_digits(cents / 100);
  if (cents % 100 != 0) {
    const std::string digits = std::to_string(100 + cents % 100).substr(1);
    price.english += "." + digits;
    price.german += "," + digits;
  }
  return {price.english + (cents == 100 ? " euro" : " euros"), price.german + " Euro"};
}

Phrase price_in_words(std::int64_t cents) {
  Phrase price = number_in_words(cents / 100);
  price.english += " euros";
  price.german += " Euro";
  if (cents % 100 != 0) {
    const Phrase rest = number_in_words(cents % 100);
    price.english += " and " + rest.english + " cents";
    price.german += " und " + rest.german + " Cent";
  }
  return price;
}

}  // namespace dragoman
