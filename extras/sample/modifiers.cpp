#include <array>

#include "extras/sample/lexicon.h"

namespace dragoman {
namespace {

constexpr std::uint32_t kObject =
    kPortable | kMachine | kVehicle | kFurniture | kOpenable | kClothing;
constexpr std::uint32_t kBuilt = kObject | kPlace;
constexpr std::uint32_t kMeal = kFood | kDrink;
constexpr std::uint32_t kText = kReadable;

constexpr Adjective kAdjectives[] = {
    {"old", "older", "oldest", "alt", "alt", "älter", "ältest", kPerson | kAnimal | kBuilt},
    {"young", "younger", "youngest", "jung", "jung", "jünger", "jüngst", kPerson | kAnimal},
    {"friendly", "friendlier", "friendliest", "freundlich", "freundlich", "freundlicher",
     "freundlichst", kPerson},
    {"strong", "stronger", "strongest", "stark", "stark", "stärker", "stärkst", kPerson},
    {"rich", "richer", "richest", "reich", "reich", "reicher", "reichst", kPerson},
    {"clever", "cleverer", "cleverest", "klug", "klug", "klüger", "klügst", kPerson | kAnimal},
    {"happy", "happier", "happiest", "glücklich", "glücklich", "glücklicher", "glücklichst",
     kPerson},
    {"tired", "more tired", "most tired", "müde", "müd", "müder", "müdest", kPerson | kAnimal},
    {"sick", "", "", "krank", "krank", "", "", kPerson | kAnimal},
    {"famous", "more famous", "most famous", "berühmt", "berühmt", "berühmter", "berühmtest",
     kPerson | kSights},
    {"tall", "taller", "tallest", "groß", "groß", "größer", "größt", kPerson},
    {"small", "smaller", "smallest", "klein", "klein", "kleiner", "kleinst", kAnimal | kBuilt},
    {"big", "bigger", "biggest", "groß", "groß", "größer", "größt", kAnimal | kBuilt},
    {"new", "newer", "newest", "neu", "neu", "neuer", "neuest", kBuilt | kText},
    {"good", "better", "best", "gut", "gut", "besser", "best", kText | kMeal},
    {"beautiful", "more beautiful", "most beautiful", "schön", "schön", "schöner", "schönst",
     kPlace | kClothing | kText},
    {"expensive", "more expensive", "most expensive", "teuer", "teur", "teurer", "teuerst",
     kObject | kMeal},
    {"cheap", "cheaper", "cheapest", "billig", "billig", "billiger", "billigst", kObject | kMeal},
    {"heavy", "heavier", "heaviest", "schwer", "schwer", "schwerer", "schwerst",
     kPortable | kFurniture},
    {"light", "lighter", "lightest", "leicht", "leicht", "leichter", "leichtest",
     kPortable | kFurniture},
    {"broken", "", "", "kaputt", "kaputt", "", "", kMachine | kFurniture},
    {"dirty", "dirtier", "dirtiest", "schmutzig", "schmutzig", "schmutziger", "schmutzigst",
     kClothing | kVehicle | kRoom},
    {"fast", "faster", "fastest", "schnell", "schnell", "schneller", "schnellst", kVehicle},
    {"long", "longer", "longest", "lang", "lang", "länger", "längst", kText},
    {"interesting", "more interesting", "most interesting", "interessant", "interessant",
     "interessanter", "interessantest", kText | kSights},
    {"quiet", "quieter", "quietest", "ruhig", "ruhig", "ruhiger", "ruhigst", kPlace},
    {"fresh", "fresher", "freshest", "frisch", "frisch", "frischer", "frischest", kMeal},
    {"cold", "colder", "coldest", "kalt", "kalt", "kälter", "kältest", kMeal},
    {"hot", "hotter", "hottest", "heiß", "heiß", "heißer", "heißest", kDrink | kCookable},
    {"red", "", "", "rot", "rot", "", "", kObject, true},
    {"blue", "", "", "blau", "blau", "", "", kObject, true},
    {"green", "", "", "grün", "grün", "", "", kObject, true},
    {"black", "", "", "schwarz", "schwarz", "", "", kObject | kAnimal, true},
    {"white", "", "", "weiß", "weiß", "", "", kObject | kAnimal, true},
    {"brown", "", "", "braun", "braun", "", "", kObject | kAnimal, true},
};

const std::array kPresent = {
    Phrase{"today", "heute"},
    Phrase{"every day", "jeden Tag"},
    Phrase{"in the morning", "am Morgen"},
    Phrase{"in the evening", "am Abend"},
    Phrase{"on weekends", "am Wochenende"},
    Phrase{"every week", "jede Woche"},
    Phrase{"in summer", "im Sommer"},
    Phrase{"in winter", "im Winter"},
};
const std::array kNow = {
    Phrase{"now", "jetzt"},
    Phrase{"at the moment", "im Moment"},
    Phrase{"today", "heute"},
    Phrase{"right now", "gerade"},
};
const std::array kPast = {
    Phrase{"yesterday", "gestern"},
    Phrase{"yesterday evening", "gestern Abend"},
    Phrase{"last week", "letzte Woche"},
    Phrase{"last month", "letzten Monat"},
    Phrase{"last year", "letztes Jahr"},
    Phrase{"two days ago", "vor zwei Tagen"},
    Phrase{"three weeks ago", "vor drei Wochen"},
    Phrase{"five years ago", "vor fünf Jahren"},
    Phrase{"an hour ago", "vor einer Stunde"},
};
const std::array kFuture = {
    Phrase{"tomorrow", "morgen"},
    Phrase{"tomorrow morning", "morgen früh"},
    Phrase{"soon", "bald"},
    Phrase{"next week", "nächste Woche"},
    Phrase{"next month", "nächsten Monat"},
    Phrase{"next year", "nächstes Jahr"},
    Phrase{"in two days", "in zwei Tagen"},
    Phrase{"in three weeks", "in drei Wochen"},
    Phrase{"this evening", "heute Abend"},
};

const std::array kFrequencies = {
    Phrase{"often", "oft"}, Phrase{"always", "immer"},  Phrase{"sometimes", "manchmal"},
    Phrase{"never", "nie"}, Phrase{"rarely", "selten"}, Phrase{"usually", "meistens"},
};
const std::array kManners = {
    Phrase{"slowly", "langsam"},
    Phrase{"quickly", "schnell"},
    Phrase{"quietly", "leise"},
};
const std::array kDegrees = {
    Phrase{"very", "sehr"},
    Phrase{"too", "zu"},
    Phrase{"a little", "etwas"},
};

}  // namespace

std::span<const Adjective> adjectives() { return kAdjectives; }

std::span<const Phrase> times(TimeOf time) {
  switch (time) {
    case TimeOf::Present:
      return kPresent;
    case TimeOf::Now:
      return kNow;
    case TimeOf::Past:
      return kPast;
    case TimeOf::Future:
      return kFuture;
  }
  return kPresent;
}

std::span<const Phrase> frequencies() { return kFrequencies; }
std::span<const Phrase> manners() { return kManners; }
std::span<const Phrase> degrees() { return kDegrees; }

}  // namespace dragoman
