// The words of the sample corpus. Each English word has one German word, so that an English
// sentence determines its German sentence.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "extras/sample/text.h"

namespace dragoman {

enum class Gender { Masculine, Feminine, Neuter };
enum class Case { Nominative, Accusative, Dative };
enum class Number { Singular, Plural };

/// The kinds of nouns, by what can be done with them. Verbs and adjectives name the kinds of nouns
/// that they go with.
enum Kind : std::uint32_t {
  kPerson = 1 << 0,
  kRelative = 1 << 1,  ///< "my aunt", seldom "an aunt"
  kWorker = 1 << 2,    ///< "is a doctor"
  kFemale = 1 << 3,    ///< "she", also where the German noun is neuter
  kChild = 1 << 4,     ///< neither "he" nor "she"
  kAnimal = 1 << 5,
  kFood = 1 << 6,
  kCookable = 1 << 7,
  kDrink = 1 << 8,
  kReadable = 1 << 9,
  kWritable = 1 << 10,
  kMachine = 1 << 11,  ///< can be repaired
  kVehicle = 1 << 12,
  kSwitchable = 1 << 13,
  kOpenable = 1 << 14,
  kClothing = 1 << 15,
  kPortable = 1 << 16,
  kFurniture = 1 << 17,
  kPlace = 1 << 18,
  kRoom = 1 << 19,     ///< can be tidied up
  kEvent = 1 << 20,    ///< one waits for it and looks forward to it
  kFlat = 1 << 21,     ///< lies on a table
  kUpright = 1 << 22,  ///< stands on a table
  kSights = 1 << 23,   ///< can be visited
  kTale = 1 << 24,     ///< one tells it to somebody
  kFar = 1 << 25,      ///< one travels there
  kOutside = 1 << 26,  ///< one drives there
  kParent = 1 << 27,   ///< everybody has one
};

struct Noun {
  std::string_view english, english_plural;  ///< no plural: a mass noun ("milk")
  std::string_view german, german_plural;
  Gender gender;
  std::uint32_t kinds;
  std::string_view oblique = {};  ///< accusative and dative singular of weak nouns: "Jungen"
  bool mass() const { return english_plural.empty(); }
};
std::span<const Noun> nouns();

/// A place: "at the station", "to the station" / "am Bahnhof", "zum Bahnhof".
struct Place {
  Noun noun;
  std::string_view english_at, german_at;  ///< "at" / "an", with the dative
  std::string_view german_to;              ///< "zu" with the dative, others with the accusative
};
std::span<const Place> places();

/// A town or a person; a title changes in German ("Herr", "Herrn").
struct Name {
  std::string_view english, german, german_oblique;
  bool female;
};
std::span<const Name> people();
std::span<const std::string_view> towns();  ///< the same in both languages

struct Adjective {
  std::string_view english, comparative, superlative;
  std::string_view german;  ///< predicative
  std::string_view stem;    ///< before an ending: "teur"
  std::string_view german_comparative, superlative_stem;
  std::uint32_t kinds;
  bool colour = false;  ///< stands next to the noun, behind another adjective
};
std::span<const Adjective> adjectives();

enum class Auxiliary { Haben, Sein };

struct EnglishVerb {
  std::string_view base, past, participle, ing;
  std::string_view particle = {};     ///< "up" in "picks up": behind a pronoun ("picks him up")
  std::string_view preposition = {};  ///< "for" in "looks for"
};
struct GermanVerb {
  std::string_view prefix;      ///< "auf" of "aufmachen", separable
  std::string_view infinitive;  ///< without the prefix
  std::string_view third;       ///< third person singular, without the prefix
  std::string_view participle;  ///< with the prefix
  Auxiliary auxiliary = Auxiliary::Haben;
  std::string_view preterite = {};  ///< used for the English past where given: "hatte"
};
struct Verb {
  EnglishVerb english;
  GermanVerb german;
  std::uint32_t objects = 0;  ///< kinds of the object, or of the place one moves to; 0: none
  Case object_case = Case::Accusative;
  std::string_view german_preposition = {};  ///< of the object: "warten auf"
  bool reflexive = false;                    ///< in German
  bool stative = false;                      ///< no progressive, no time, no manner
  bool careful = false;                      ///< can be done slowly, quickly, quietly
  bool involuntary = false;                  ///< nobody likes or plans to do it
};
std::span<const Verb> object_verbs();     ///< person, verb, object
std::span<const Verb> recipient_verbs();  ///< person, verb, person in the dative, object
std::span<const Verb> activity_verbs();   ///< person, verb
std::span<const Verb> motion_verbs();     ///< person, verb, to a place
std::span<const Verb> position_verbs();   ///< thing, verb, on a table: lie, stand
std::span<const Verb> placing_verbs();    ///< person, verb, thing, onto a table: lay, place
std::span<const Verb> saying_verbs();     ///< say that
std::span<const Verb> asking_verbs();     ///< ask whether
std::span<const Verb> attempt_verbs();    ///< try to
std::span<const Verb> weather_verbs();    ///< it rains
const Verb& to_be();
const Verb& to_have();
const Verb& to_belong();
const Verb& to_cost();

/// "can": an auxiliary in English; "want to": a verb. German "gern" in place of a modal verb where
/// german_singular is empty ("likes to sing" / "singt gern").
struct Modal {
  std::string_view auxiliary;          ///< "can", or empty
  std::string_view base, third, past;  ///< "want", "wants", "wanted" where there is no auxiliary
  std::string_view rest;               ///< before the infinitive: "to"
  std::string_view german_singular, german_plural, german_past;
  bool has_past() const { return !past.empty(); }
};
std::span<const Modal> modals();

enum class TimeOf { Present, Now, Past, Future };
std::span<const Phrase> times(TimeOf time);
std::span<const Phrase> frequencies();
std::span<const Phrase> manners();
std::span<const Phrase> degrees();  ///< "very" / "sehr"

}  // namespace dragoman
