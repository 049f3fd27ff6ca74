// Sentences of one clause.
#include <iterator>

#include "extras/sample/draw.h"
#include "extras/sample/patterns.h"

namespace dragoman {
namespace {

Phrase closed(const Phrase& phrase, char mark) {
  return {sentence_of(phrase.english, mark), sentence_of(phrase.german, mark)};
}

Phrase statement_or_question(RandomStream& random, const Clause& clause) {
  const bool asks = clause.subject.pronoun != &pronouns::kNobody && random.chance(0.2);
  return asks ? closed(question(clause), '?') : closed(statement(clause), '.');
}

Clause draw_full_clause(RandomStream& random) {
  const NounPhrase subject = draw_person(random);
  return draw_action(random, subject, draw_frame(random), Detail::Full);
}

Clause draw_full_known_clause(RandomStream& random) {
  const NounPhrase subject = draw_known_person(random);
  return draw_action(random, subject, draw_frame(random), Detail::Full);
}

/// "Who buys the bread?"
Phrase who_question(RandomStream& random) {
  const NounPhrase who{.pronoun = &pronouns::kWho};
  Clause clause = draw_action(random, who, draw_frame(random), Detail::Full);
  clause.negated = false;
  clause.frequency = {};
  return closed(statement(clause), '?');
}

std::string_view of_case(Case grammatical_case, std::string_view accusative,
                         std::string_view dative) {
  return grammatical_case == Case::Dative ? dative : accusative;
}

/// "What does the man buy?", "Whom does Anna help?", "Which bus is he waiting for?"
Phrase object_question(RandomStream& random, Clause clause) {
  NounPhrase object = *clause.object;
  clause.object.reset();
  clause.negated = false;
  const Verb& verb = *clause.verb;
  const bool plain = verb.german_preposition.empty() && !clause.recipient;
  const bool person = object.noun == nullptr || (object.noun->kinds & kPerson) != 0;
  const bool other = !person && (object.noun->kinds & (kAnimal | kPlace)) != 0;
  if (plain && !other && (object.noun == nullptr || random.chance(0.5))) {
    if (!person) return closed(question(clause, {"what", "was"}), '?');
    const std::string whom(of_case(verb.object_case, "wen", "wem"));
    return closed(question(clause, {"whom", whom}), '?');
  }
  if (object.noun == nullptr) {
    clause.object = object;
    return closed(question(clause), '?');
  }
  object.superlative = false;
  const bool many = object.number == Number::Plural && plain;
  object.determiner = many ? Determiner::HowMany : Determiner::Which;
  return closed(
      question(clause, {english_phrase(object, Role::Object),
                        german_phrase(verb.german_preposition, object, verb.object_case)}),
      '?');
}

}  // namespace

Phrase statement_pattern(RandomStream& random) {
  return closed(statement(draw_full_clause(random)), '.');
}

Phrase fronted_pattern(RandomStream& random) {
  Clause clause = draw_full_clause(random);
  for (int attempt = 0; attempt < 20 && clause.time.empty(); ++attempt) {
    clause = draw_full_clause(random);
  }
  const Phrase front = std::exchange(clause.time, {});
  return closed(statement(clause, front), '.');
}

Phrase yes_no_pattern(RandomStream& random) {
  Clause clause = draw_full_known_clause(random);
  clause.negated = false;
  return closed(question(clause), '?');
}

Phrase question_word_pattern(RandomStream& random) {
  if (random.chance(0.2)) return who_question(random);
  Clause clause = draw_full_known_clause(random);
  if (clause.object && random.chance(0.7)) return object_question(random, clause);
  if (!clause.place.empty() && random.chance(0.8)) {
    clause.place = {};
    return closed(question(clause, {"where", "wo"}), '?');
  }
  for (const Verb& motion : motion_verbs()) {
    if (clause.verb != &motion || motion.english.base == "come" || !random.chance(0.6)) continue;
    clause.complement = {};
    return closed(question(clause, {"where", "wohin"}), '?');
  }
  const bool timeless = clause.verb->stative || clause.tense == Tense::Perfect;
  if (timeless || clause.negated || random.chance(0.5)) {
    return closed(question(clause, {"why", "warum"}), '?');
  }
  clause.time = {};
  clause.frequency = {};
  return closed(question(clause, {"when", "wann"}), '?');
}

Phrase request_pattern(RandomStream& random) {
  const NounPhrase you{.pronoun = &pronouns::kYou};
  Clause clause = draw_deed(random, you);
  const bool deniable = !clause.object || clause.object->definite() ||
                        clause.object->determiner == Determiner::Indefinite;
  clause.negated = deniable && random.chance(0.2);
  if (random.chance(0.25)) {
    const Phrase soon[] = {{"tomorrow", "morgen"},
                           {"tomorrow morning", "morgen früh"},
                           {"this evening", "heute Abend"},
                           {"now", "jetzt"},
                           draw_clock(random)};
    clause.time = soon[random.below(std::size(soon))];
  }
  return closed(request(clause), '.');
}

Phrase quality_pattern(RandomStream& random) {
  Clause clause{.verb = &to_be()};
  constexpr std::uint32_t kAnything =
      kVehicle | kPortable | kFurniture | kOpenable | kPlace | kReadable | kFood | kDrink | kAnimal;
  const bool person = random.chance(0.45);
  clause.subject = person ? draw_known_person(random) : draw_definite(random, kAnything, nullptr);
  clause.subject.adjectives.clear();
  const Noun& kind = clause.subject.noun != nullptr ? *clause.subject.noun : nouns()[0];
  const Adjective* adjective = draw_adjective(random, kind, WhichAdjective::Any);
  if (adjective == nullptr) return quality_pattern(random);
  const Phrase degree = random.chance(0.4) && !adjective->comparative.empty()
                            ? draw_from(random, degrees())
                            : Phrase{};
  clause.complement = {join_words({degree.english, adjective->english}),
                       join_words({degree.german, adjective->german})};
  clause.tense = random.chance(0.3) ? Tense::Past : Tense::Present;
  clause.negated = degree.english != "a little" && random.chance(0.25);
  return statement_or_question(random, clause);
}

Phrase comparison_pattern(RandomStream& random) {
  const bool person = random.chance(0.4);
  constexpr std::uint32_t kGroups[] = {kVehicle, kFurniture, kClothing, kReadable, kPlace,
                                       kAnimal,  kFood,      kDrink,    kMachine};
  const std::uint32_t group = kGroups[random.below(std::size(kGroups))];
  Clause clause{.verb = &to_be()};
  clause.subject = person ? draw_known_person(random) : draw_definite(random, group, nullptr);
  const NounPhrase other =
      person ? draw_other_person(random, clause.subject) : draw_definite(random, group, nullptr);
  const bool twice = !person && other.noun == clause.subject.noun;
  const Noun& kind = clause.subject.noun != nullptr ? *clause.subject.noun : nouns()[0];
  const Adjective* adjective = draw_adjective(random, kind, WhichAdjective::Comparable);
  clause.subject.adjectives.clear();
  const bool fits = adjective != nullptr &&
                    (other.noun == nullptr || (other.noun->kinds & adjective->kinds) != 0);
  const bool repeated = !other.adjectives.empty() && other.adjectives[0] == adjective;
  if (twice || !fits || repeated || !other.definite()) return comparison_pattern(random);
  const std::string english = english_phrase(other, Role::Object);
  const std::string german = german_phrase(other, Case::Nominative);
  if (random.chance(0.65)) {
    clause.complement = {join_words({adjective->comparative, "than", english}),
                         join_words({adjective->german_comparative, "als", german})};
  } else {
    clause.complement = {join_words({"as", adjective->english, "as", english}),
                         join_words({"so", adjective->german, "wie", german})};
    clause.negated = random.chance(0.5);
  }
  clause.tense = random.chance(0.2) ? Tense::Past : Tense::Present;
  return statement_or_question(random, clause);
}

Phrase work_pattern(RandomStream& random) {
  Clause clause{.subject = draw_known_person(random), .verb = &to_be()};
  const Pronoun* sex = clause.subject.taken_up_by();
  if (sex != &pronouns::kHe && sex != &pronouns::kShe) return work_pattern(random);
  NounPhrase work{.noun = &draw_noun(random, kWorker), .determiner = Determiner::Indefinite};
  const bool female = (work.noun->kinds & kFemale) != 0;
  if (female != (sex == &pronouns::kShe) || work.noun == clause.subject.noun) {
    return work_pattern(random);
  }
  clause.tense = random.chance(0.25) ? Tense::Past : Tense::Present;
  if (random.chance(0.5)) {  // "ist Arzt", but "ist ein guter Arzt"
    clause.complement = {english_phrase(work, Role::Object), std::string(work.noun->german)};
  } else {
    work.adjectives = {draw_adjective(random, *work.noun, WhichAdjective::Comparable)};
    clause.negated = random.chance(0.25);
    clause.object = work;
  }
  return statement_or_question(random, clause);
}

Phrase position_pattern(RandomStream& random) {
  Clause clause{.verb = &draw_from(random, position_verbs())};
  clause.subject = draw_definite(random, clause.verb->objects, nullptr);
  clause.complement = draw_furniture_place(random, Case::Dative);
  constexpr Tense kTenses[] = {Tense::Present, Tense::Progressive, Tense::Past};
  clause.tense = kTenses[random.below(3)];
  clause.negated = random.chance(0.2);
  return statement_or_question(random, clause);
}

Phrase belonging_pattern(RandomStream& random) {
  constexpr std::uint32_t kOwned = kPortable | kVehicle | kFurniture | kAnimal;
  NounPhrase thing{.noun = &draw_noun(random, kOwned)};
  if (random.chance(0.3)) thing.determiner = Determiner::This;
  const Adjective* adjective = draw_adjective(random, *thing.noun, WhichAdjective::Any);
  if (random.chance(0.4) && adjective != nullptr) thing.adjectives = {adjective};
  if (random.chance(0.3)) thing.number = Number::Plural;
  Clause clause{.subject = thing, .verb = &to_belong()};
  clause.object = draw_other_person(random, thing);
  if (!clause.object->definite()) clause.object->determiner = Determiner::Definite;
  clause.tense = random.chance(0.3) ? Tense::Past : Tense::Present;
  clause.negated = random.chance(0.2);
  return statement_or_question(random, clause);
}

Phrase existence_pattern(RandomStream& random) {
  NounPhrase thing{.noun = &draw_noun(random, kOutside)};
  if ((thing.noun->kinds & kFar) != 0) return existence_pattern(random);
  constexpr Determiner kDeterminers[] = {Determiner::Indefinite, Determiner::Negative,
                                         Determiner::Many, Determiner::Some};
  thing.determiner = kDeterminers[random.below(4)];
  const bool many = thing.determiner == Determiner::Many || thing.determiner == Determiner::Some;
  thing.number = many ? Number::Plural : Number::Singular;
  if (random.chance(0.4)) {
    thing.adjectives = {draw_adjective(random, *thing.noun, WhichAdjective::Any)};
  }
  const Phrase place = draw_place(random, kFar);
  const Phrase there{many ? "there are" : "there is", "es gibt"};
  return closed({join_words({there.english, english_phrase(thing, Role::Object), place.english}),
                 join_words({there.german, german_phrase(thing, Case::Accusative), place.german})},
                '.');
}

}  // namespace dragoman
