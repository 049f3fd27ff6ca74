#include "extras/sample/noun_phrase.h"

#include "extras/sample/english.h"

namespace dragoman {
namespace pronouns {

constexpr Agreement kThird = Agreement::ThirdSingular;
const Pronoun kI = {"I", "me", "my", "ich", "mich", "mir", "mein", Agreement::FirstSingular};
const Pronoun kYou = {"you", "you", "your", "Sie", "Sie", "Ihnen", "Ihr", Agreement::ThirdPlural};
const Pronoun kHe = {"he", "him", "his", "er", "ihn", "ihm", "sein", kThird};
const Pronoun kShe = {"she", "her", "her", "sie", "sie", "ihr", "ihr", kThird};
const Pronoun kWe = {"we", "us", "our", "wir", "uns", "uns", "unser", Agreement::FirstPlural};
const Pronoun kThey = {"they", "them",  "their", "sie",
                       "sie",  "ihnen", "ihr",   Agreement::ThirdPlural};
const Pronoun kEveryone = {"everyone", "everyone", "their", "jeder",
                           "jeden",    "jedem",    "sein",  kThird};
const Pronoun kNobody = {"nobody",    "nobody",    "their", "niemand",
                         "niemanden", "niemandem", "sein",  kThird};
const Pronoun kSomeone = {"someone",  "someone",  "their", "jemand",
                          "jemanden", "jemandem", "sein",  kThird};
const Pronoun kWho = {"who", "whom", "whose", "wer", "wen", "wem", "wessen", kThird};
const Pronoun kWhat = {"what", "what", "", "was", "was", "", "", kThird};
const Pronoun kIt = {"it", "it", "its", "es", "es", "ihm", "sein", kThird};

}  // namespace pronouns

namespace {

std::string_view english_determiner(const NounPhrase& phrase) {
  switch (phrase.determiner) {
    case Determiner::Definite:
      return "the";
    case Determiner::Negative:
      return "no";
    case Determiner::This:
      return phrase.number == Number::Plural ? "these" : "this";
    case Determiner::Every:
      return "every";
    case Determiner::All:
      return "all";
    case Determiner::Many:
      return "many";
    case Determiner::Some:
      return "some";
    case Determiner::Count:
      return phrase.count.english;
    case Determiner::Possessive:
      return phrase.possessor->english_possessive;
    case Determiner::Which:
      return "which";
    case Determiner::HowMany:
      return "how many";
    case Determiner::Indefinite:
    case Determiner::Owner:
      break;
  }
  return "";
}

Declension declension_after(const NounPhrase& phrase) {
  switch (phrase.determiner) {
    case Determiner::Definite:
    case Determiner::This:
    case Determiner::Every:
    case Determiner::All:
    case Determiner::Which:
      return Declension::Weak;
    case Determiner::Negative:
    case Determiner::Possessive:
      return Declension::Mixed;
    case Determiner::Indefinite:
      return phrase.number == Number::Plural || phrase.noun->mass() ? Declension::Strong
                                                                    : Declension::Mixed;
    default:
      return Declension::Strong;
  }
}

std::string german_determiner(const NounPhrase& phrase, const Inflection& place) {
  const auto with = [](std::string_view stem, std::string_view ending) {
    return std::string(stem).append(ending);
  };
  switch (phrase.determiner) {
    case Determiner::Definite:
      return definite_article(place);
    case Determiner::Indefinite:
      return declension_after(phrase) == Declension::Strong ? "" : with("ein", ein_ending(place));
    case Determiner::Negative:
      return with("kein", ein_ending(place));
    case Determiner::Possessive:
      return with(phrase.possessor->german_possessive, ein_ending(place));
    case Determiner::This:
      return with("dies", strong_ending(place));
    case Determiner::Every:
      return with("jed", strong_ending(place));
    case Determiner::All:
      return with("all", strong_ending(place));
    case Determiner::Many:
      return with("viel", strong_ending(place));
    case Determiner::Some:
      return with("einig", strong_ending(place));
    case Determiner::Which:
      return with("welch", strong_ending(place));
    case Determiner::HowMany:
      return with("wie viel", strong_ending(place));
    case Determiner::Count:
      return phrase.count.german;
    case Determiner::Owner:
      return std::string(phrase.owner->german_oblique) + "s";
  }
  return "";
}

std::string english_noun(const NounPhrase& phrase) {
  std::string words(phrase.number == Number::Plural ? phrase.noun->english_plural
                                                    : phrase.noun->english);
  for (std::size_t i = phrase.adjectives.size(); i-- > 0;) {
    const Adjective& one = *phrase.adjectives[i];
    words = join_words({i == 0 && phrase.superlative ? one.superlative : one.english, words});
  }
  if (phrase.determiner == Determiner::Indefinite && phrase.number == Number::Singular &&
      !phrase.noun->mass()) {
    words = with_indefinite_article(words);
  }
  if (phrase.determiner == Determiner::Owner) {
    words = std::string(phrase.owner->english) + "'s " + words;
  }
  return join_words({english_determiner(phrase), words, phrase.after.english});
}

std::string german_noun(const NounPhrase& phrase, Case grammatical_case) {
  const Inflection place{phrase.noun->gender, phrase.number, grammatical_case};
  std::string words = german_determiner(phrase, place);
  const std::string_view ending = adjective_ending(declension_after(phrase), place);
  for (std::size_t i = 0; i < phrase.adjectives.size(); ++i) {
    const Adjective& one = *phrase.adjectives[i];
    const bool superlative = i == 0 && phrase.superlative;
    words = join_words({words, superlative ? one.superlative_stem : one.stem}).append(ending);
  }
  return join_words(
      {words, declined_noun(*phrase.noun, phrase.number, grammatical_case), phrase.after.german});
}

}  // namespace

Agreement NounPhrase::agreement() const {
  if (!and_also.empty()) return Agreement::ThirdPlural;
  if (pronoun != nullptr) return pronoun->agreement;
  return name == nullptr && number == Number::Plural ? Agreement::ThirdPlural
                                                     : Agreement::ThirdSingular;
}

bool NounPhrase::personal_pronoun() const {
  using namespace pronouns;
  return pronoun == &kI || pronoun == &kYou || pronoun == &kHe || pronoun == &kShe ||
         pronoun == &kWe || pronoun == &kThey;
}

bool NounPhrase::definite() const {
  if (pronoun != nullptr || name != nullptr) return true;
  return determiner == Determiner::Definite || determiner == Determiner::This ||
         determiner == Determiner::Possessive || determiner == Determiner::Owner;
}

const Pronoun* NounPhrase::taken_up_by() const {
  if (!and_also.empty()) return &pronouns::kThey;
  if (pronoun != nullptr) return personal_pronoun() ? pronoun : nullptr;
  if (name != nullptr) return name->female ? &pronouns::kShe : &pronouns::kHe;
  if ((noun->kinds & kPerson) == 0) return nullptr;
  if (number == Number::Plural) return &pronouns::kThey;
  if ((noun->kinds & kChild) != 0) return nullptr;
  return (noun->kinds & kFemale) != 0 ? &pronouns::kShe : &pronouns::kHe;
}

std::string english_phrase(const NounPhrase& phrase, Role role) {
  std::string words;
  if (phrase.pronoun != nullptr) {
    words =
        role == Role::Subject ? phrase.pronoun->english_subject : phrase.pronoun->english_object;
  } else {
    words = phrase.name != nullptr ? phrase.name->english : english_noun(phrase);
  }
  for (const NounPhrase& other : phrase.and_also) words += " and " + english_phrase(other, role);
  return words;
}

std::string german_phrase(const NounPhrase& phrase, Case grammatical_case) {
  std::string words;
  if (phrase.pronoun != nullptr) {
    const Pronoun& pronoun = *phrase.pronoun;
    words = grammatical_case == Case::Nominative   ? pronoun.nominative
            : grammatical_case == Case::Accusative ? pronoun.accusative
                                                   : pronoun.dative;
  } else if (phrase.name != nullptr) {
    words =
        grammatical_case == Case::Nominative ? phrase.name->german : phrase.name->german_oblique;
  } else {
    words = german_noun(phrase, grammatical_case);
  }
  for (const NounPhrase& other : phrase.and_also) {
    words += " und " + german_phrase(other, grammatical_case);
  }
  return words;
}

std::string german_phrase(std::string_view preposition, const NounPhrase& phrase,
                          Case grammatical_case) {
  return contracted(preposition, german_phrase(phrase, grammatical_case));
}

}  // namespace dragoman
