// German inflection for the sample corpus: articles, adjective endings, nouns, verbs.
#pragma once

#include <string>
#include <string_view>

#include "extras/sample/lexicon.h"

namespace dragoman {

/// Person and number of a subject; the polite "Sie" is conjugated as ThirdPlural.
enum class Agreement { FirstSingular, ThirdSingular, FirstPlural, ThirdPlural };

/// Where an inflected word stands.
struct Inflection {
  Gender gender;
  Number number;
  Case grammatical_case;
};

/// "der", "die", "das", "den", "dem"; also the relative pronoun, but for the dative plural.
std::string definite_article(const Inflection& place);

/// The ending of "dieser" and of an adjective with no article: "-er", "-e", "-es", "-en", "-em".
std::string_view strong_ending(const Inflection& place);

/// The ending of "ein", "kein", "mein": as strong_ending(), but none in "ein Mann", "ein Kind".
std::string_view ein_ending(const Inflection& place);

/// The kind of word before an adjective: Weak after "der" and "dieser", Mixed after "ein" and
/// "kein", Strong after nothing, numbers, "viele", "einige" and "Annas".
enum class Declension { Weak, Mixed, Strong };
std::string_view adjective_ending(Declension declension, const Inflection& place);

/// "Junge" -> "Jungen" (weak nouns), "Kinder" -> "Kindern" (dative plural).
std::string declined_noun(const Noun& noun, Number number, Case grammatical_case);

/// Finite forms without the separable prefix: "mache", "macht", "machen", "bin", "weiß".
std::string present_form(const GermanVerb& verb, Agreement subject);
/// Only for verbs that have a preterite in the lexicon: "hatte", "waren".
std::string preterite_form(std::string_view third_person, Agreement subject);
/// "habe", "ist".
std::string auxiliary_form(Auxiliary auxiliary, Agreement subject);
/// "werde", "wird", "werden".
std::string future_form(Agreement subject);
/// "aufmachen"; with "zu": "aufzumachen", "zu lesen".
std::string infinitive(const GermanVerb& verb);
std::string zu_infinitive(const GermanVerb& verb);
/// "mich", "uns", "sich".
std::string_view reflexive_pronoun(Agreement subject);

/// "in" + "dem Garten" -> "im Garten", "zu" + "der Brücke" -> "zur Brücke"; others are joined.
std::string contracted(std::string_view preposition, std::string_view noun_phrase);

}  // namespace dragoman
