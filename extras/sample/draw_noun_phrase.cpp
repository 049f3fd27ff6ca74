#include <algorithm>
#include <vector>

#include "extras/sample/draw.h"
#include "extras/sample/numbers.h"

namespace dragoman {
namespace {

const Pronoun& draw_pronoun(RandomStream& random) {
  using namespace pronouns;
  const Pronoun* const all[] = {&kI, &kYou, &kHe, &kShe, &kWe, &kThey};
  return *all[random.below(std::size(all))];
}

NounPhrase drawn_name(RandomStream& random) { return {.name = &draw_from(random, people())}; }

void add_adjectives(RandomStream& random, NounPhrase& phrase) {
  if (!random.chance(0.4)) return;
  const Adjective* adjective = draw_adjective(random, *phrase.noun, WhichAdjective::Any);
  if (adjective == nullptr) return;
  phrase.adjectives.push_back(adjective);
  const bool one_of_all = phrase.determiner == Determiner::Definite ||
                          phrase.determiner == Determiner::Possessive ||
                          phrase.determiner == Determiner::Owner;
  phrase.superlative = one_of_all && !adjective->superlative.empty() && !phrase.noun->mass() &&
                       (phrase.noun->kinds & kParent) == 0 && random.chance(0.15);
  if (adjective->colour || !random.chance(0.2)) return;
  const Adjective* colour = draw_adjective(random, *phrase.noun, WhichAdjective::Any);
  if (colour != nullptr && colour->colour) phrase.adjectives.push_back(colour);
}

void draw_owner(RandomStream& random, NounPhrase& phrase, const Pronoun* possessor) {
  phrase.determiner = Determiner::Possessive;
  phrase.possessor = possessor != nullptr ? possessor : &pronouns::kI;
  if (random.chance(0.2)) phrase.possessor = &draw_pronoun(random);
  if (random.chance(0.25)) {
    phrase.determiner = Determiner::Owner;
    phrase.owner = &draw_from(random, people());
  }
}

void draw_count(RandomStream& random, NounPhrase& phrase) {
  phrase.number = Number::Plural;
  phrase.determiner = Determiner::Count;
  const std::int64_t count = random.chance(0.8) ? 2 + random.below(11) : 13 + random.below(87);
  phrase.count = random.chance(0.8) ? number_in_words(count) : number_in_digits(count);
}

/// "every", "all", "many", "some", a number.
void draw_quantity(RandomStream& random, NounPhrase& phrase) {
  if (phrase.noun->mass() || (phrase.noun->kinds & kParent) != 0) return;
  constexpr Determiner kQuantities[] = {Determiner::Every, Determiner::All, Determiner::Many,
                                        Determiner::Some, Determiner::Count};
  constexpr int kWeights[] = {1, 1, 2, 2, 5};
  phrase.determiner = kQuantities[draw_weighted(random, kWeights)];
  phrase.number = phrase.determiner == Determiner::Every ? Number::Singular : Number::Plural;
  if (phrase.determiner == Determiner::Count) draw_count(random, phrase);
}

void maybe_plural(RandomStream& random, NounPhrase& phrase, double probability) {
  const bool one = phrase.noun->mass() || (phrase.noun->kinds & kParent) != 0;
  const bool plural = !one && random.chance(probability);
  phrase.number = plural ? Number::Plural : Number::Singular;
}

NounPhrase drawn_person_noun(RandomStream& random) {
  NounPhrase person{.noun = &draw_noun(random, kPerson)};
  maybe_plural(random, person, 0.25);
  if ((person.noun->kinds & kRelative) != 0 && random.chance(0.7)) {
    draw_owner(random, person, &draw_pronoun(random));
  } else if (random.chance(0.12)) {
    person.determiner = Determiner::This;
  }
  add_adjectives(random, person);
  return person;
}

}  // namespace

std::size_t draw_weighted(RandomStream& random, std::span<const int> weights) {
  std::uint64_t sum = 0;
  for (int weight : weights) sum += weight;
  std::uint64_t place = random.below(sum);
  std::size_t chosen = 0;
  while (place >= static_cast<std::uint64_t>(weights[chosen])) place -= weights[chosen++];
  return chosen;
}

const Noun& draw_noun(RandomStream& random, std::uint32_t kinds) {
  const auto fits = [kinds](const Noun& noun) { return (noun.kinds & kinds) != 0; };
  std::vector<const Noun*> candidates;
  for (const Noun& noun : nouns()) {
    if (fits(noun)) candidates.push_back(&noun);
  }
  for (const Place& place : places()) {
    if (fits(place.noun)) candidates.push_back(&place.noun);
  }
  return *random.choice(candidates);
}

const Adjective* draw_adjective(RandomStream& random, const Noun& noun, WhichAdjective which) {
  std::vector<const Adjective*> candidates;
  for (const Adjective& adjective : adjectives()) {
    if ((adjective.kinds & noun.kinds) == 0) continue;
    if (which == WhichAdjective::Comparable && adjective.comparative.empty()) continue;
    candidates.push_back(&adjective);
  }
  return candidates.empty() ? nullptr : random.choice(candidates);
}

NounPhrase draw_known_person(RandomStream& random) {
  const double draw = random.uniform();
  if (draw < 0.34) return {.pronoun = &draw_pronoun(random)};
  if (draw < 0.54) return drawn_name(random);
  if (draw < 0.58) {
    NounPhrase pair = drawn_name(random);
    const NounPhrase other = random.chance(0.5) ? drawn_name(random) : drawn_person_noun(random);
    if (other.name != pair.name) pair.and_also.push_back(other);
    return pair;
  }
  return drawn_person_noun(random);
}

NounPhrase draw_person(RandomStream& random) {
  const double draw = random.uniform();
  if (draw < 0.88) return draw_known_person(random);
  if (draw < 0.92) {
    using namespace pronouns;
    const Pronoun* const indefinite[] = {&kEveryone, &kNobody, &kSomeone};
    return {.pronoun = indefinite[random.below(3)]};
  }
  NounPhrase person{.noun = &draw_noun(random, kWorker), .determiner = Determiner::Indefinite};
  if (random.chance(0.2)) person.determiner = Determiner::Negative;
  if (random.chance(0.5)) draw_quantity(random, person);
  add_adjectives(random, person);
  return person;
}

NounPhrase draw_object(RandomStream& random, std::uint32_t kinds, const Pronoun* possessor) {
  NounPhrase object{.noun = &draw_noun(random, kinds)};
  maybe_plural(random, object, 0.3);
  constexpr int kWeights[] = {30, 34, 16, 6, 14};
  switch (draw_weighted(random, kWeights)) {
    case 1:
      object.determiner = Determiner::Indefinite;
      break;
    case 2:
      draw_owner(random, object, possessor);
      break;
    case 3:
      object.determiner = Determiner::This;
      break;
    case 4:
      draw_quantity(random, object);
      break;
    default:
      break;
  }
  const bool general =
      object.determiner == Determiner::Definite || object.determiner == Determiner::Indefinite;
  if ((object.noun->kinds & kRelative) != 0 && general) {
    draw_owner(random, object, possessor);
  }
  add_adjectives(random, object);
  return object;
}

NounPhrase draw_definite(RandomStream& random, std::uint32_t kinds, const Pronoun* possessor) {
  NounPhrase object{.noun = &draw_noun(random, kinds)};
  maybe_plural(random, object, 0.2);
  if (random.chance(0.12)) object.determiner = Determiner::This;
  if (random.chance(0.25)) draw_owner(random, object, possessor);
  add_adjectives(random, object);
  return object;
}

NounPhrase draw_other_person(RandomStream& random, const NounPhrase& subject) {
  if (random.chance(0.3)) {
    const Pronoun& pronoun = draw_pronoun(random);
    const auto first_person = [](const Pronoun* one) {
      return one == &pronouns::kI || one == &pronouns::kWe;
    };
    const bool same = &pronoun == subject.pronoun;
    if (!same && !(first_person(&pronoun) && first_person(subject.pronoun))) {
      return {.pronoun = &pronoun};
    }
  }
  if (random.chance(0.25)) {
    NounPhrase name = drawn_name(random);
    const bool in_pair =
        std::any_of(subject.and_also.begin(), subject.and_also.end(),
                    [&name](const NounPhrase& one) { return one.name == name.name; });
    if (name.name != subject.name && !in_pair) return name;
  }
  NounPhrase person = draw_object(random, kPerson, subject.taken_up_by());
  while (person.noun == subject.noun) person.noun = &draw_noun(random, kPerson);
  return person;
}

}  // namespace dragoman
