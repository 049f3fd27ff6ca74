// Clauses of the sample corpus: one meaning, rendered in the word order of each language as a
// statement, a question, a subordinate clause, a request or an infinitive.
//
// German order: [front] finite verb, pronouns, subject, known recipient, time, known object,
// "nicht" or frequency, manner, place, other object, complement, rest of the verb. In subordinate
// clauses the finite verb comes last.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "extras/sample/lexicon.h"
#include "extras/sample/noun_phrase.h"

namespace dragoman {

enum class Tense { Present, Progressive, Past, Perfect, Future };

struct Clause {
  NounPhrase subject = {};
  const Verb* verb = nullptr;
  std::optional<NounPhrase> recipient = {};
  std::optional<NounPhrase> object = {};
  Phrase time = {}, frequency = {}, manner = {}, place = {};
  Phrase complement = {};  ///< direction, predicate: next to the end of the clause
  Tense tense = Tense::Present;
  const Modal* modal = nullptr;  ///< with Tense::Present or Tense::Past
  bool negated = false;
};

/// "Today the man buys the bread" / "Heute kauft der Mann das Brot"; with an empty front the
/// subject comes first.
Phrase statement(const Clause& clause, const Phrase& front = {});

/// "Does the man buy the bread" / "Kauft der Mann das Brot"; `front` holds the question word:
/// "When does ..." / "Wann ...". A question about the subject is a statement.
Phrase question(const Clause& clause, const Phrase& front = {});

/// "because the man buys the bread" / "weil der Mann das Brot kauft", without commas.
Phrase subordinate(const Phrase& introducer, const Clause& clause);

/// A relative clause about its subject, which the clause lacks: "who buys the bread" / "der das
/// Brot kauft". One about the object is a subordinate() without object.
Phrase subject_relative(const Phrase& relative, const Clause& clause, Agreement agreement);

/// Without subject: "buys the bread" / "kauft das Brot", the second of two with one subject.
Phrase predicate(const Clause& clause);

/// "please open the door" / "bitte machen Sie die Tür auf". The clause's subject is ignored.
Phrase request(Clause clause);

enum class EnglishInfinitive { To, Ing };  ///< "open" (with a "to" before it) or "opening"
/// "open the door" / "die Tür aufzumachen"; the subject only decides on the reflexive pronoun.
Phrase zu_infinitive_clause(const Clause& clause, EnglishInfinitive form);

}  // namespace dragoman
