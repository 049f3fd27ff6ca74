#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "extras/sample/draw.h"
#include "extras/sample/grammar.h"
#include "extras/sample/numbers.h"

namespace dragoman {
namespace {

/// Both languages side by side; sentence_of() closes them.
Phrase closed(std::initializer_list<Phrase> parts, char mark = '.') {
  std::string english, german;
  for (const Phrase& part : parts) {
    english = join_words({english, part.english});
    german = join_words({german, part.german});
  }
  return {sentence_of(english, mark), sentence_of(german, mark)};
}

int draw_between(RandomStream& random, int low, int high) {
  const int numbers = high - low + 1;
  return low + static_cast<int>(random.below(static_cast<std::uint64_t>(numbers)));
}

/// Few of the numbers are long; never one that ends in 01, after which German is unsure.
std::int64_t draw_number(RandomStream& random, int most_digits) {
  constexpr int kDigitsWeights[] = {6, 36, 26, 12, 8, 7, 5};
  const int digits =
      1 + static_cast<int>(draw_weighted(random, std::span(kDigitsWeights).first(most_digits)));
  std::int64_t low = 1;
  for (int i = 1; i < digits; ++i) low *= 10;
  std::int64_t number = low + static_cast<std::int64_t>(random.below(9 * low));
  if (digits > 3 && random.chance(0.3)) number -= number % 100;
  if (number % 100 == 1) ++number;
  return number;
}

Phrase words_or_digits(RandomStream& random, std::int64_t number) {
  return random.chance(0.75) ? number_in_words(number) : number_in_digits(number);
}

/// Of a month in a leap year.
int days_of(int month) {
  constexpr std::array kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays.at(static_cast<std::size_t>(month - 1));
}

Date draw_date(RandomStream& random) {
  return {draw_between(random, 1900, 2019), draw_between(random, 1, 12),
          draw_between(random, 1, 28)};
}

Phrase draw_price(RandomStream& random, int most_digits) {
  std::int64_t cents = 100 * draw_number(random, most_digits);
  if (cents == 100) cents = 200;
  if (cents < 10'000 && random.chance(0.5)) cents += std::int64_t{5} * draw_between(random, 1, 19);
  return random.chance(0.5) ? price_in_words(cents) : price_in_digits(cents);
}

Phrase number_itself(RandomStream& random) {
  return closed({{"the number is", "die Zahl ist"}, number_in_words(draw_number(random, 7))});
}

Phrase inhabitants(RandomStream& random) {
  const std::string town(draw_from(random, towns()));
  const Phrase places[] = {{"the city", "die Stadt"}, {"the village", "das Dorf"}, {town, town}};
  const std::size_t place = random.below(3);
  std::int64_t number = draw_number(random, place == 1 ? 4 : 7);
  if (place != 1 && number < 5'000) number = 10'000 + 1'000 * number;
  return closed({places[place],
                 {"has", "hat"},
                 words_or_digits(random, number),
                 {"inhabitants", "Einwohner"}});
}

Phrase sum(RandomStream& random) {
  const std::int64_t one = draw_number(random, 2), two = draw_number(random, 2);
  return closed({number_in_words(one),
                 {"plus", "plus"},
                 number_in_words(two),
                 {"is", "ist"},
                 number_in_words(one + two)});
}

Phrase thing_costs(RandomStream& random) {
  constexpr std::uint32_t kKinds[] = {kFood | kClothing | kPortable, kMachine | kFurniture,
                                      kVehicle};
  constexpr int kMostDigits[] = {2, 3, 5};
  const std::size_t kind = random.below(3);
  NounPhrase thing = draw_definite(random, kKinds[kind], nullptr);
  thing.number = Number::Singular;
  Clause clause{.subject = thing, .verb = &to_cost()};
  clause.complement = draw_price(random, kMostDigits[kind]);
  if (random.chance(0.25)) return closed({question(clause, {"why", "warum"})}, '?');
  return closed({statement(clause)});
}

Phrase somebody_pays(RandomStream& random) {
  static constexpr Verb kPay = {{"pay", "paid", "paid", "paying"},
                                {"", "bezahlen", "bezahlt", "bezahlt"}};
  const NounPhrase thing = draw_definite(random, kPortable | kFurniture | kFood, nullptr);
  const Phrase price = draw_price(random, 3);
  Clause clause{.subject = draw_known_person(random), .verb = &kPay};
  draw_circumstances(random, clause, draw_frame(random), Detail::Bare);
  clause.negated = false;
  clause.complement = {price.english + " for " + english_phrase(thing, Role::Object),
                       price.german + " " + german_phrase("für", thing, Case::Accusative)};
  return closed({statement(clause)});
}

Phrase time_now(RandomStream& random) {
  const int minute = 5 * draw_between(random, 0, 11);
  const Phrase time = clock_time(draw_between(random, 1, 12), minute);
  return closed({{"it is", "es ist"}, time});
}

/// "The train arrives at half past seven." / "Der Zug kommt um halb acht an."
Phrase departure(RandomStream& random) {
  static constexpr Verb kTimetable[] = {{{"arrive", "arrived", "arrived", "arriving"},
                                         {"an", "kommen", "kommt", "angekommen", Auxiliary::Sein}},
                                        {{"depart", "departed", "departed", "departing"},
                                         {"ab", "fahren", "fährt", "abgefahren", Auxiliary::Sein}}};
  NounPhrase vehicle{.noun = &draw_noun(random, kVehicle)};
  while ((vehicle.noun->kinds & kEvent) == 0) vehicle.noun = &draw_noun(random, kVehicle);
  Clause clause{.subject = vehicle, .verb = &kTimetable[random.below(2)]};
  constexpr Tense kTenses[] = {Tense::Present, Tense::Past, Tense::Future};
  clause.tense = kTenses[random.below(3)];
  clause.time = draw_clock(random);
  if (random.chance(0.5)) {
    const std::string town(draw_from(random, towns()));
    clause.place = {"in " + town, "in " + town};
    if (clause.verb == &kTimetable[1]) clause.place = {};
  }
  if (random.chance(0.2)) return closed({question(clause)}, '?');
  return closed({statement(clause)});
}

Phrase today_is(RandomStream& random) {
  const Date date = draw_date(random);
  const Phrase weekday = weekday_name(date.weekday()), day = full_date(date);
  return closed({{"today is " + weekday.english + ", " + day.english,
                  "heute ist " + weekday.german + ", der " + day.german}});
}

Phrase born_on(RandomStream& random) {
  const NounPhrase person = draw_known_person(random);
  const Agreement subject = person.agreement();
  const bool singular = subject == Agreement::FirstSingular || subject == Agreement::ThirdSingular;
  const Phrase who{english_phrase(person, Role::Subject), german_phrase(person, Case::Nominative)};
  const Phrase born{singular ? "was born" : "were born", singular ? "wurde" : "wurden"};
  const int day = draw_between(random, 1, 31), month = draw_between(random, 1, 12);
  Phrase when = on_day_in_words(month, std::min(day, days_of(month)));
  const double draw = random.uniform();
  if (draw < 0.4) {
    const Phrase date = full_date(draw_date(random));
    when = {"on " + date.english, "am " + date.german};
  } else if (draw < 0.7) {
    const Phrase year = year_in_words(draw_between(random, 1900, 2019));
    when = {"in " + year.english, "im Jahr " + year.german};
  }
  return closed({who, born, when, {"", "geboren"}});
}

Phrase on_a_date(RandomStream& random) {
  const NounPhrase subject = draw_known_person(random);
  Clause clause = draw_action(random, subject, Frame::Past, Detail::Bare);
  if (clause.verb->stative) return on_a_date(random);
  if (clause.tense == Tense::Perfect) clause.tense = Tense::Past;
  if (!shows_past(clause)) return on_a_date(random);
  if (random.chance(0.6))
    return closed({statement(clause, on_weekday_and_date(draw_date(random)))});
  const int day = draw_between(random, 1, 28);
  return closed({statement(clause, on_day_in_words(draw_between(random, 1, 12), day))});
}

Phrase age(RandomStream& random) {
  Clause clause{.subject = draw_known_person(random), .verb = &to_be()};
  const Phrase years = words_or_digits(random, draw_between(random, 2, 99));
  clause.complement = {years.english + " years old", years.german + " Jahre alt"};
  clause.tense = random.chance(0.25) ? Tense::Past : Tense::Present;
  const bool asks = random.chance(0.15);
  return asks ? closed({question(clause)}, '?') : closed({statement(clause)});
}

Phrase length(RandomStream& random) {
  const Phrase things[] = {{"the bridge is", "die Brücke ist"},
                           {"the beach is", "der Strand ist"},
                           {"the river is", "der Fluss ist"},
                           {"the street is", "die Straße ist"}};
  return closed({things[random.below(4)],
                 words_or_digits(random, draw_number(random, 4) + 1),
                 {"meters long", "Meter lang"}});
}

Phrase room(RandomStream& random) {
  const Phrase floor = ordinal_in_words(draw_between(random, 1, 12));
  const std::string number = std::to_string(draw_between(random, 2, 999));
  return closed({{"room " + number, "Zimmer " + number},
                 {"is on the", "ist im"},
                 {floor.english, floor.german + "n"},
                 {"floor", "Stock"}});
}

Phrase built_in(RandomStream& random) {
  const NounPhrase building{.noun = &draw_noun(random, kSights)};
  if ((building.noun->kinds & kRoom) != 0) return built_in(random);
  const int year = draw_between(random, 1750, 2019);
  const Phrase when =
      random.chance(0.5) ? year_in_words(year) : Phrase{std::to_string(year), std::to_string(year)};
  return closed(
      {{english_phrase(building, Role::Subject), german_phrase(building, Case::Nominative)},
       {"was built in", "wurde im Jahr"},
       when,
       {"", "gebaut"}});
}

}  // namespace

Phrase draw_number_sentence(RandomStream& random) {
  using Pattern = Phrase (*)(RandomStream&);
  constexpr std::pair<int, Pattern> kPatterns[] = {
      {10, number_itself}, {8, inhabitants}, {6, sum},        {14, thing_costs},
      {8, somebody_pays},  {8, time_now},    {10, departure}, {5, today_is},
      {8, born_on},        {10, on_a_date},  {6, age},        {4, length},
      {3, room},           {4, built_in}};
  int weights[std::size(kPatterns)];
  for (std::size_t i = 0; i < std::size(kPatterns); ++i) weights[i] = kPatterns[i].first;
  return kPatterns[draw_weighted(random, weights)].second(random);
}

}  // namespace dragoman
