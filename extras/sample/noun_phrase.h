// Noun phrases of the sample corpus: their parts, and their text in both languages.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "extras/sample/german.h"

namespace dragoman {

struct Pronoun {
  std::string_view english_subject, english_object, english_possessive;
  std::string_view nominative, accusative, dative, german_possessive;
  Agreement agreement;
};

namespace pronouns {
extern const Pronoun kI, kYou, kHe, kShe, kWe, kThey;
extern const Pronoun kEveryone, kNobody, kSomeone, kWho, kWhat, kIt;  ///< kIt: only the weather's
}  // namespace pronouns

enum class Determiner {
  Definite,
  Indefinite,  ///< "a"; nothing in the plural and before mass nouns
  Negative,    ///< "no" / "kein"
  This,
  Every,
  All,
  Many,
  Some,
  Count,       ///< a number
  Possessive,  ///< "my"
  Owner,       ///< "Anna's"
  Which,
  HowMany,
};

/// A pronoun, a name, or a noun with the words before and behind it; or two of them with "and".
struct NounPhrase {
  const Pronoun* pronoun = nullptr;
  const Name* name = nullptr;
  const Noun* noun = nullptr;
  Determiner determiner = Determiner::Definite;
  Number number = Number::Singular;
  const Pronoun* possessor = nullptr;  ///< of Determiner::Possessive
  const Name* owner = nullptr;         ///< of Determiner::Owner
  Phrase count = {};                   ///< of Determiner::Count
  std::vector<const Adjective*> adjectives = {};
  bool superlative = false;  ///< of the first adjective
  Phrase after = {};         ///< a relative clause with its commas
  std::vector<NounPhrase> and_also = {};

  Agreement agreement() const;
  bool personal_pronoun() const;
  /// Known to the listener: German puts it before "nicht" and "oft", and others behind.
  bool definite() const;
  /// "she" for "the girl"; none where the sex is not known.
  const Pronoun* taken_up_by() const;
};

enum class Role { Subject, Object };
std::string english_phrase(const NounPhrase& phrase, Role role);
std::string german_phrase(const NounPhrase& phrase, Case grammatical_case);

/// "auf den Bus", "im alten Garten".
std::string german_phrase(std::string_view preposition, const NounPhrase& phrase,
                          Case grammatical_case);

}  // namespace dragoman
