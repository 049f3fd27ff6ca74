#include "extras/sample/clause.h"

#include "extras/sample/clause_english.h"

namespace dragoman {
namespace {

/// The German verb: "macht", "auf", "" / "hat", "", "aufgemacht".
struct VerbParts {
  std::string finite, prefix, tail;
};

bool with_gern(const Clause& clause) {
  return clause.modal != nullptr && clause.modal->german_singular.empty();
}

VerbParts modal_parts(const Clause& clause, Agreement subject) {
  const Modal& modal = *clause.modal;
  const bool singular = subject == Agreement::FirstSingular || subject == Agreement::ThirdSingular;
  std::string finite(singular ? modal.german_singular : modal.german_plural);
  if (clause.tense == Tense::Past) finite = preterite_form(modal.german_past, subject);
  return {finite, "", infinitive(clause.verb->german)};
}

VerbParts verb_parts(const Clause& clause, Agreement subject) {
  const GermanVerb& verb = clause.verb->german;
  if (clause.modal != nullptr && !with_gern(clause)) return modal_parts(clause, subject);
  switch (clause.tense) {
    case Tense::Present:
    case Tense::Progressive:
      return {present_form(verb, subject), std::string(verb.prefix), ""};
    case Tense::Future:
      return {future_form(subject), "", infinitive(verb)};
    case Tense::Past:
      if (!verb.preterite.empty()) {
        return {preterite_form(verb.preterite, subject), std::string(verb.prefix), ""};
      }
      [[fallthrough]];
    case Tense::Perfect:
      break;
  }
  return {auxiliary_form(verb.auxiliary, subject), "", std::string(verb.participle)};
}

enum class SubjectPlace { Inside, Elsewhere };

/// Everything between the verb's two ends.
class MiddleField {
 public:
  MiddleField(const Clause& clause, Agreement subject, SubjectPlace place)
      : clause_(clause), subject_(subject), place_(place) {}

  std::string text() const {
    const std::optional<NounPhrase>&object = clause_.object, &recipient = clause_.recipient;
    const bool subject_is_pronoun = clause_.subject.pronoun != nullptr;
    const std::string subject = place_ == SubjectPlace::Inside
                                    ? german_phrase(clause_.subject, Case::Nominative)
                                    : std::string();
    const std::string pronouns = object_pronouns();
    // "sie" before a noun would read as the subject: "Heute besucht die Frau sie."
    const bool subject_first = subject_is_pronoun || pronouns == "sie" || pronouns == "Sie";
    const std::string before = subject_first ? subject : "", after = subject_first ? "" : subject;
    const bool last = object && (clause_.verb == &to_be() || prepositional());
    const bool known_object = object && object->definite() && !last;
    const bool dative = known_object && clause_.verb->object_case == Case::Dative;
    const bool known = known_object && !dative;
    const std::string object_words = object && !is_pronoun(object) ? object_phrase() : "";
    const bool noun_recipient = recipient && !is_pronoun(recipient);
    const std::string to_whom = noun_recipient ? german_phrase(*recipient, Case::Dative) : "";
    const bool known_recipient = noun_recipient && recipient->definite();
    return join_words({before, pronouns, after, known_recipient ? to_whom : "",
                       dative ? object_words : "", clause_.time.german,
                       known_recipient ? "" : to_whom, known ? object_words : "", adverb(),
                       clause_.manner.german, clause_.place.german,
                       dative || known ? "" : object_words, clause_.complement.german});
  }

 private:
  bool prepositional() const { return !clause_.verb->german_preposition.empty(); }
  /// Pronouns behind a preposition stay with it.
  bool is_pronoun(const std::optional<NounPhrase>& phrase) const {
    return phrase && phrase->pronoun != nullptr && !(prepositional() && &phrase == &clause_.object);
  }

  std::string object_pronouns() const {
    const std::string_view reflexive =
        clause_.verb->reflexive ? reflexive_pronoun(subject_) : std::string_view();
    std::string object, recipient;
    if (is_pronoun(clause_.object)) object = object_phrase();
    if (is_pronoun(clause_.recipient)) recipient = german_phrase(*clause_.recipient, Case::Dative);
    return join_words({reflexive, object, recipient});
  }

  std::string object_phrase() const {
    NounPhrase object = *clause_.object;
    if (negative_object()) object.determiner = Determiner::Negative;
    return german_phrase(clause_.verb->german_preposition, object, clause_.verb->object_case);
  }

  /// "kein" in place of "nicht ein".
  bool negative_object() const {
    return clause_.negated && clause_.object && !prepositional() && !with_gern(clause_) &&
           clause_.object->pronoun == nullptr && clause_.object->name == nullptr &&
           clause_.object->determiner == Determiner::Indefinite;
  }

  std::string adverb() const {
    return join_words({clause_.negated && !negative_object() ? "nicht" : "",
                       with_gern(clause_) ? "gern" : "", clause_.frequency.german});
  }

  const Clause& clause_;
  Agreement subject_;
  SubjectPlace place_;
};

std::string german_predicate(const Clause& clause, Agreement subject, SubjectPlace place) {
  const VerbParts verb = verb_parts(clause, subject);
  return join_words(
      {verb.finite, MiddleField(clause, subject, place).text(), verb.prefix, verb.tail});
}

std::string german_verb_last(const Clause& clause, Agreement subject, SubjectPlace place) {
  const VerbParts verb = verb_parts(clause, subject);
  const std::string finite = verb.prefix + verb.finite;
  return join_words({MiddleField(clause, subject, place).text(), verb.tail, finite});
}

}  // namespace

Phrase statement(const Clause& clause, const Phrase& front) {
  const Agreement subject = clause.subject.agreement();
  const std::string first =
      front.empty() ? german_phrase(clause.subject, Case::Nominative) : front.german;
  const SubjectPlace place = front.empty() ? SubjectPlace::Elsewhere : SubjectPlace::Inside;
  return {join_words({front.english, english_statement(clause)}),
          join_words({first, german_predicate(clause, subject, place)})};
}

Phrase question(const Clause& clause, const Phrase& front) {
  const Agreement subject = clause.subject.agreement();
  return {join_words({front.english, english_question(clause)}),
          join_words({front.german, german_predicate(clause, subject, SubjectPlace::Inside)})};
}

Phrase subordinate(const Phrase& introducer, const Clause& clause) {
  const Agreement subject = clause.subject.agreement();
  return {join_words({introducer.english, english_statement(clause)}),
          join_words({introducer.german, german_verb_last(clause, subject, SubjectPlace::Inside)})};
}

Phrase subject_relative(const Phrase& relative, const Clause& clause, Agreement agreement) {
  return {
      join_words({relative.english, english_predicate(clause, agreement)}),
      join_words({relative.german, german_verb_last(clause, agreement, SubjectPlace::Elsewhere)})};
}

Phrase predicate(const Clause& clause) {
  const Agreement subject = clause.subject.agreement();
  return {english_predicate(clause, subject),
          german_predicate(clause, subject, SubjectPlace::Elsewhere)};
}

Phrase request(Clause clause) {
  clause.subject = NounPhrase{.pronoun = &pronouns::kYou};
  const std::string verb(clause.verb->english.base);
  return {join_words({"please", clause.negated ? "do not" : "", verb, english_rest(clause)}),
          join_words(
              {"bitte", german_predicate(clause, Agreement::ThirdPlural, SubjectPlace::Inside)})};
}

Phrase zu_infinitive_clause(const Clause& clause, EnglishInfinitive form) {
  const Agreement subject = clause.subject.agreement();
  const EnglishVerb& english = clause.verb->english;
  const std::string_view verb = form == EnglishInfinitive::To ? english.base : english.ing;
  return {join_words({verb, english_rest(clause)}),
          join_words({MiddleField(clause, subject, SubjectPlace::Elsewhere).text(),
                      zu_infinitive(clause.verb->german)})};
}

}  // namespace dragoman
