#include "extras/sample/clause_english.h"

#include "extras/sample/english.h"

namespace dragoman {
namespace {

enum class Support { AsNeeded, Required };  // of "do", in questions and negations

/// "is" and "buying" of "is buying"; "" and "buys".
struct VerbWords {
  std::string auxiliary, main;
};

struct SimpleForms {
  std::string_view base, third, past;
};

/// A full verb in the simple present or past.
VerbWords simple_form(const SimpleForms& forms, Tense tense, Agreement subject, Support support) {
  const bool is_third = subject == Agreement::ThirdSingular;
  if (tense == Tense::Past) {
    if (support == Support::Required) return {"did", std::string(forms.base)};
    return {"", std::string(forms.past)};
  }
  if (support == Support::Required) return {is_third ? "does" : "do", std::string(forms.base)};
  return {"", std::string(is_third ? forms.third : forms.base)};
}

VerbWords modal_words(const Clause& clause, Agreement subject, Support support) {
  const Modal& modal = *clause.modal;
  const bool past = clause.tense == Tense::Past;
  VerbWords words;
  if (!modal.auxiliary.empty()) {
    words = {std::string(past ? modal.past : modal.auxiliary), ""};
  } else {
    words = simple_form({modal.base, modal.third, modal.past}, clause.tense, subject, support);
  }
  words.main = join_words({words.main, modal.rest, clause.verb->english.base});
  return words;
}

VerbWords be_words(Tense tense, Agreement subject) {
  if (tense == Tense::Past) return {past_of_be(subject), ""};
  if (tense == Tense::Future) return {"will", "be"};
  return {present_of_be(subject), ""};
}

VerbWords verb_words(const Clause& clause, Agreement subject, Support support) {
  if (clause.modal != nullptr) return modal_words(clause, subject, support);
  if (clause.verb == &to_be()) return be_words(clause.tense, subject);
  const EnglishVerb& verb = clause.verb->english;
  switch (clause.tense) {
    case Tense::Progressive:
      return {present_of_be(subject), std::string(verb.ing)};
    case Tense::Perfect:
      return {subject == Agreement::ThirdSingular ? "has" : "have", std::string(verb.participle)};
    case Tense::Future:
      return {"will", std::string(verb.base)};
    case Tense::Present:
    case Tense::Past:
      break;
  }
  return simple_form({verb.base, third_person(verb.base), verb.past}, clause.tense, subject,
                     support);
}

std::string negated(std::string_view auxiliary) {
  return std::string(auxiliary).append(auxiliary == "can" ? "not" : " not");
}

}  // namespace

std::string english_rest(const Clause& clause) {
  const EnglishVerb& verb = clause.verb->english;
  std::string object, recipient;
  if (clause.object) object = english_phrase(*clause.object, Role::Object);
  if (clause.recipient) recipient = english_phrase(*clause.recipient, Role::Object);
  const bool particle_last = clause.object && clause.object->personal_pronoun();
  return join_words({particle_last ? "" : verb.particle, verb.preposition, recipient, object,
                     particle_last ? verb.particle : "", clause.complement.english,
                     clause.manner.english, clause.place.english, clause.time.english});
}

std::string english_predicate(const Clause& clause, Agreement subject) {
  const VerbWords words =
      verb_words(clause, subject, clause.negated ? Support::Required : Support::AsNeeded);
  return join_words({clause.negated ? negated(words.auxiliary) : words.auxiliary,
                     clause.frequency.english, words.main, english_rest(clause)});
}

std::string english_statement(const Clause& clause) {
  return join_words({english_phrase(clause.subject, Role::Subject),
                     english_predicate(clause, clause.subject.agreement())});
}

std::string english_question(const Clause& clause) {
  const VerbWords words = verb_words(clause, clause.subject.agreement(), Support::Required);
  return join_words({words.auxiliary, english_phrase(clause.subject, Role::Subject),
                     clause.negated ? "not" : "", clause.frequency.english, words.main,
                     english_rest(clause)});
}

}  // namespace dragoman
