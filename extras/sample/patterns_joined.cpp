// Sentences of two clauses.
#include <iterator>
#include <vector>

#include "extras/sample/draw.h"
#include "extras/sample/patterns.h"

namespace dragoman {
namespace {

/// The two texts with a comma between them in German; English has one where `english_comma` is.
Phrase joined(const Phrase& first, std::string_view between, std::string_view german_between,
              const Phrase& second) {
  return {sentence_of(first.english + std::string(between) + second.english, '.'),
          sentence_of(first.german + std::string(german_between) + second.german, '.')};
}

/// Somebody else, or the same person again as "he".
NounPhrase draw_next_subject(RandomStream& random, const NounPhrase& subject) {
  const Pronoun* again = subject.taken_up_by();
  if (again != nullptr && random.chance(0.5)) return {.pronoun = again};
  const NounPhrase next = draw_known_person(random);
  const bool same = (next.name != nullptr && next.name == subject.name) ||
                    (next.noun != nullptr && next.noun == subject.noun);
  return same ? draw_next_subject(random, subject) : next;
}

Clause draw_feeling(RandomStream& random, const NounPhrase& subject, Frame frame) {
  struct Feeling {
    std::string_view english, german;
  };
  constexpr Feeling kFeelings[] = {{"tired", "müde"},      {"sick", "krank"},
                                   {"happy", "glücklich"}, {"hungry", "hungrig"},
                                   {"thirsty", "durstig"}, {"sad", "traurig"}};
  const Feeling& feeling = kFeelings[random.below(std::size(kFeelings))];
  Clause clause{.subject = subject, .verb = &to_be()};
  clause.complement = {std::string(feeling.english), std::string(feeling.german)};
  clause.tense = frame == Frame::Past ? Tense::Past : Tense::Present;
  clause.negated = random.chance(0.15);
  return clause;
}

Clause draw_circumstance(RandomStream& random, const NounPhrase& subject, Frame frame) {
  const double draw = random.uniform();
  if (draw < 0.2) return draw_weather(random, frame);
  const NounPhrase next = draw_next_subject(random, subject);
  if (draw < 0.45) return draw_feeling(random, next, frame);
  return draw_action(random, next, frame, Detail::Bare);
}

struct Conjunction {
  std::string_view english, german;
};

Phrase phrase_of(const Conjunction& conjunction) {
  return {std::string(conjunction.english), std::string(conjunction.german)};
}

Frame present_or_past(RandomStream& random) {
  return random.chance(0.55) ? Frame::Present : Frame::Past;
}

bool is_motion(const Clause& clause) { return !clause.object && !clause.complement.empty(); }

/// The pronoun that stands for a noun as subject or object of a relative clause.
Phrase relative_pronoun(const NounPhrase& phrase, Case grammatical_case) {
  const bool person = (phrase.noun->kinds & kPerson) != 0;
  const bool whom = grammatical_case != Case::Nominative;
  return {person ? (whom ? "whom" : "who") : "that",
          definite_article({phrase.noun->gender, phrase.number, grammatical_case})};
}

/// A verb that takes this noun as an object in the accusative with no preposition; nullptr where
/// there is none.
const Verb* draw_verb_for(RandomStream& random, std::uint32_t kinds) {
  std::vector<const Verb*> candidates;
  for (const Verb& verb : object_verbs()) {
    if ((verb.objects & kinds) != 0 && verb.object_case == Case::Accusative &&
        verb.german_preposition.empty()) {
      candidates.push_back(&verb);
    }
  }
  return candidates.empty() ? nullptr : random.choice(candidates);
}

void add_relative_clause(RandomStream& random, NounPhrase& phrase) {
  Phrase relative;
  const Frame frame = present_or_past(random);
  if ((phrase.noun->kinds & kPerson) != 0 && random.chance(0.7)) {
    const Clause clause = draw_action(random, phrase, frame, Detail::Bare);
    relative =
        subject_relative(relative_pronoun(phrase, Case::Nominative), clause, phrase.agreement());
  } else {
    const Verb* verb = draw_verb_for(random, phrase.noun->kinds);
    if (verb == nullptr) return;
    Clause clause{.subject = draw_known_person(random), .verb = verb};
    draw_circumstances(random, clause, frame, Detail::Bare);
    relative = subordinate(relative_pronoun(phrase, Case::Accusative), clause);
  }
  phrase.after = {relative.english, ", " + relative.german + ","};
}

}  // namespace

Phrase reason_pattern(RandomStream& random) {
  constexpr Conjunction kConjunctions[] = {{"because", "weil"},    {"because", "weil"},
                                           {"although", "obwohl"}, {"before", "bevor"},
                                           {"while", "während"},   {"if", "wenn"}};
  const Conjunction& conjunction = kConjunctions[random.below(std::size(kConjunctions))];
  const Frame frame = conjunction.english == "if" ? Frame::Present : present_or_past(random);
  const NounPhrase subject = draw_person(random);
  const Phrase main = statement(draw_action(random, subject, frame, Detail::Bare));
  Clause circumstance = draw_circumstance(random, subject, frame);
  if (conjunction.english == "before") circumstance.negated = false;
  return joined(main, " ", ", ", subordinate(phrase_of(conjunction), circumstance));
}

Phrase condition_first_pattern(RandomStream& random) {
  constexpr Conjunction kConjunctions[] = {{"if", "wenn"},
                                           {"if", "wenn"},
                                           {"because", "weil"},
                                           {"although", "obwohl"},
                                           {"while", "während"}};
  const Conjunction& conjunction = kConjunctions[random.below(std::size(kConjunctions))];
  const bool condition = conjunction.english == "if";
  const Frame frame = condition ? Frame::Present : present_or_past(random);
  const NounPhrase subject = draw_known_person(random);
  const Clause first = draw_circumstance(random, subject, frame);
  const NounPhrase next = draw_next_subject(random, first.subject);
  const Frame main_frame = condition && random.chance(0.5) ? Frame::Future : frame;
  const Clause main = draw_action(random, next, main_frame, Detail::Bare);
  const Phrase front = subordinate(phrase_of(conjunction), first);
  const Phrase sentence = statement(main, {front.english + ",", front.german + ","});
  return {sentence_of(sentence.english, '.'), sentence_of(sentence.german, '.')};
}

Phrase reported_pattern(RandomStream& random) {
  Clause main{.subject = draw_known_person(random), .verb = &draw_from(random, saying_verbs())};
  const bool past = random.chance(0.3);
  main.tense = past ? Tense::Past : Tense::Present;
  const Frame frame = past ? Frame::Past : draw_frame(random);
  const NounPhrase subject = draw_next_subject(random, main.subject);
  Clause reported = random.chance(0.2) ? draw_feeling(random, subject, frame)
                                       : draw_action(random, subject, frame, Detail::Bare);
  // "said that he has gone" would be "had gone".
  if (past && reported.tense == Tense::Perfect) {
    if (!shows_past(reported)) return reported_pattern(random);
    reported.tense = Tense::Past;
  }
  return joined(statement(main), " ", ", ", subordinate({"that", "dass"}, reported));
}

Phrase indirect_question_pattern(RandomStream& random) {
  constexpr Conjunction kWords[] = {
      {"whether", "ob"}, {"whether", "ob"}, {"why", "warum"}, {"when", "wann"}};
  const Conjunction& word = kWords[random.below(std::size(kWords))];
  Clause main{.subject = draw_known_person(random), .verb = &draw_from(random, asking_verbs())};
  const bool knows = main.verb->english.base == "know";
  const bool you = main.subject.pronoun == &pronouns::kYou;
  main.negated = knows && !you;
  const NounPhrase subject = draw_next_subject(random, main.subject);
  Clause asked = draw_action(random, subject, draw_frame(random), Detail::Bare);
  if (word.english == "when" && (asked.verb->stative || asked.negated)) {
    return indirect_question_pattern(random);
  }
  if (word.english == "when" && asked.tense == Tense::Perfect) asked.tense = Tense::Future;
  const Phrase clause = subordinate(phrase_of(word), asked);
  if (!(knows && you)) return joined(statement(main), " ", ", ", clause);
  const Phrase asks = question(main);
  return {sentence_of(asks.english + " " + clause.english, '?'),
          sentence_of(asks.german + ", " + clause.german, '?')};
}

Phrase attempt_pattern(RandomStream& random) {
  Clause main{.subject = draw_person(random), .verb = &draw_from(random, attempt_verbs())};
  draw_circumstances(random, main, draw_frame(random), Detail::Bare);
  main.modal = nullptr;
  const Clause attempt = draw_deed(random, main.subject);
  return joined(statement(main), " to ", ", ",
                zu_infinitive_clause(attempt, EnglishInfinitive::To));
}

Phrase purpose_pattern(RandomStream& random) {
  const NounPhrase subject = draw_known_person(random);
  Clause main{.subject = subject, .verb = &draw_from(random, motion_verbs())};
  main.complement = draw_direction(random, *main.verb);
  draw_circumstances(random, main, draw_frame(random), Detail::Bare);
  main.modal = nullptr;
  Clause purpose = draw_deed(random, subject);
  while (is_motion(purpose)) purpose = draw_deed(random, subject);
  if (random.chance(0.65)) {
    return joined(statement(main), " in order to ", ", um ",
                  zu_infinitive_clause(purpose, EnglishInfinitive::To));
  }
  return joined(statement(main), " without ", ", ohne ",
                zu_infinitive_clause(purpose, EnglishInfinitive::Ing));
}

Phrase two_clauses_pattern(RandomStream& random) {
  const Frame frame = draw_frame(random);
  const Phrase first =
      statement(draw_action(random, draw_known_person(random), frame, Detail::Bare));
  const Phrase second =
      statement(draw_action(random, draw_known_person(random), frame, Detail::Bare));
  if (random.chance(0.5)) return joined(first, ", but ", ", aber ", second);
  return joined(first, " and ", " und ", second);
}

Phrase two_predicates_pattern(RandomStream& random) {
  const NounPhrase subject = draw_known_person(random);
  const Frame frame = draw_frame(random);
  const Clause first = draw_action(random, subject, frame, Detail::Bare);
  const Clause second = draw_action(random, subject, frame, Detail::Bare);
  return joined(statement(first), " and ", " und ", predicate(second));
}

Phrase sequence_pattern(RandomStream& random) {
  const NounPhrase subject = draw_known_person(random);
  const Frame frame = draw_frame(random);
  Clause first = draw_action(random, subject, frame, Detail::Bare);
  first.negated = false;
  first.modal = nullptr;
  const NounPhrase next = draw_next_subject(random, subject);
  const Clause second = draw_action(random, next, frame, Detail::Bare);
  return joined(statement(first, {"first", "zuerst"}), ", ", ", ",
                statement(second, {"then", "dann"}));
}

Phrase relative_pattern(RandomStream& random) {
  if (random.chance(0.5)) {
    NounPhrase person{.noun = &draw_noun(random, kPerson)};
    const bool parent = (person.noun->kinds & kParent) != 0;
    if (!parent && random.chance(0.25)) person.number = Number::Plural;
    add_relative_clause(random, person);
    const Clause clause = draw_action(random, person, draw_frame(random), Detail::Bare);
    const Phrase sentence = statement(clause);
    return {sentence_of(sentence.english, '.'), sentence_of(sentence.german, '.')};
  }
  const NounPhrase subject = draw_known_person(random);
  Clause clause{.subject = subject, .verb = &draw_from(random, object_verbs())};
  clause.object = NounPhrase{.noun = &draw_noun(random, clause.verb->objects)};
  if (!clause.object->noun->mass() && random.chance(0.25)) clause.object->number = Number::Plural;
  add_relative_clause(random, *clause.object);
  draw_circumstances(random, clause, draw_frame(random), Detail::Bare);
  const Phrase sentence = statement(clause);
  return {sentence_of(sentence.english, '.'), sentence_of(sentence.german, '.')};
}

}  // namespace dragoman
