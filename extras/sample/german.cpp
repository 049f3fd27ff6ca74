#include "extras/sample/german.h"

#include <array>

namespace dragoman {
namespace {

/// One row per case; columns masculine, feminine, neuter, plural.
using EndingTable = std::array<std::array<std::string_view, 4>, 3>;

constexpr EndingTable kStrong = {{
    {"er", "e", "es", "e"},
    {"en", "e", "es", "e"},
    {"em", "er", "em", "en"},
}};
constexpr EndingTable kWeak = {{
    {"e", "e", "e", "en"},
    {"en", "e", "e", "en"},
    {"en", "en", "en", "en"},
}};
constexpr EndingTable kMixed = {{
    {"er", "e", "es", "en"},
    {"en", "e", "es", "en"},
    {"en", "en", "en", "en"},
}};
constexpr EndingTable kDefinite = {{
    {"der", "die", "das", "die"},
    {"den", "die", "das", "die"},
    {"dem", "der", "dem", "den"},
}};

std::string_view entry(const EndingTable& table, const Inflection& place) {
  const int column = place.number == Number::Plural ? 3 : static_cast<int>(place.gender);
  return table[static_cast<int>(place.grammatical_case)][column];
}

std::string of_agreement(Agreement subject, std::string_view first, std::string_view third,
                         std::string_view plural) {
  if (subject == Agreement::FirstSingular) return std::string(first);
  if (subject == Agreement::ThirdSingular) return std::string(third);
  return std::string(plural);
}

}  // namespace

std::string definite_article(const Inflection& place) {
  return std::string(entry(kDefinite, place));
}

std::string_view strong_ending(const Inflection& place) { return entry(kStrong, place); }

std::string_view ein_ending(const Inflection& place) {
  const bool bare =
      place.number == Number::Singular && place.gender != Gender::Feminine &&
      (place.grammatical_case == Case::Nominative ||
       (place.grammatical_case == Case::Accusative && place.gender == Gender::Neuter));
  return bare ? "" : strong_ending(place);
}

std::string_view adjective_ending(Declension declension, const Inflection& place) {
  if (declension == Declension::Weak) return entry(kWeak, place);
  return entry(declension == Declension::Mixed ? kMixed : kStrong, place);
}

std::string declined_noun(const Noun& noun, Number number, Case grammatical_case) {
  if (number == Number::Singular) {
    const bool oblique = grammatical_case != Case::Nominative && !noun.oblique.empty();
    return std::string(oblique ? noun.oblique : noun.german);
  }
  std::string word(noun.german_plural);
  if (grammatical_case == Case::Dative && word.back() != 'n' && word.back() != 's') word += 'n';
  return word;
}

std::string present_form(const GermanVerb& verb, Agreement subject) {
  if (verb.infinitive == "sein") return of_agreement(subject, "bin", "ist", "sind");
  std::string first(verb.infinitive.substr(0, verb.infinitive.size() - 1));
  if (first.back() != 'e') first += 'e';             // "kümmern": "kümmere"
  if (verb.third.back() != 't') first = verb.third;  // "wissen": "weiß"
  return of_agreement(subject, first, verb.third, verb.infinitive);
}

std::string preterite_form(std::string_view third_person, Agreement subject) {
  const std::string plural = std::string(third_person) + (third_person.back() == 'e' ? "n" : "en");
  return of_agreement(subject, third_person, third_person, plural);
}

std::string auxiliary_form(Auxiliary auxiliary, Agreement subject) {
  if (auxiliary == Auxiliary::Sein) return of_agreement(subject, "bin", "ist", "sind");
  return of_agreement(subject, "habe", "hat", "haben");
}

std::string future_form(Agreement subject) {
  return of_agreement(subject, "werde", "wird", "werden");
}

std::string infinitive(const GermanVerb& verb) {
  return std::string(verb.prefix).append(verb.infinitive);
}

std::string zu_infinitive(const GermanVerb& verb) {
  return std::string(verb.prefix)
      .append(verb.prefix.empty() ? "zu " : "zu")
      .append(verb.infinitive);
}

std::string_view reflexive_pronoun(Agreement subject) {
  if (subject == Agreement::FirstSingular) return "mich";
  return subject == Agreement::FirstPlural ? "uns" : "sich";
}

std::string contracted(std::string_view preposition, std::string_view noun_phrase) {
  struct Contraction {
    std::string_view preposition, article, together;
  };
  constexpr Contraction kContractions[] = {{"in", "dem ", "im "},  {"in", "das ", "ins "},
                                           {"an", "dem ", "am "},  {"an", "das ", "ans "},
                                           {"zu", "dem ", "zum "}, {"zu", "der ", "zur "},
                                           {"von", "dem ", "vom "}};
  for (const Contraction& one : kContractions) {
    if (one.preposition == preposition && noun_phrase.starts_with(one.article)) {
      return std::string(one.together).append(noun_phrase.substr(one.article.size()));
    }
  }
  return join_words({preposition, noun_phrase});
}

}  // namespace dragoman
