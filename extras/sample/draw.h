// Draws of words, noun phrases and clauses for the sample corpus, so that they fit each other.
#pragma once

#include <cstdint>
#include <span>

#include "base/random.h"
#include "extras/sample/clause.h"

namespace dragoman {

template <class T>
const T& draw_from(RandomStream& random, std::span<const T> items) {
  return items[random.below(items.size())];
}

/// One of 0, 1, ... with probabilities in proportion to `weights`.
std::size_t draw_weighted(RandomStream& random, std::span<const int> weights);

/// A noun, or the noun of a place, of one of the kinds.
const Noun& draw_noun(RandomStream& random, std::uint32_t kinds);

/// "the old man", "Anna", "they", "my sister and Peter".
NounPhrase draw_person(RandomStream& random);
/// As draw_person(), but always one that "he", "she" or "they" takes up and that can be denied.
NounPhrase draw_known_person(RandomStream& random);

/// "a red car", "his keys", "many books" of these kinds; `possessor`, if any, may own it.
NounPhrase draw_object(RandomStream& random, std::uint32_t kinds, const Pronoun* possessor);
/// As draw_object(), but definite: "the red car", "this car", "Anna's car".
NounPhrase draw_definite(RandomStream& random, std::uint32_t kinds, const Pronoun* possessor);
/// A person as the object of an action of `subject`, and another person than the subject.
NounPhrase draw_other_person(RandomStream& random, const NounPhrase& subject);

/// An adjective that fits the noun; nullptr where there is none. Comparable: has a comparative.
enum class WhichAdjective { Any, Comparable };
const Adjective* draw_adjective(RandomStream& random, const Noun& noun, WhichAdjective which);

/// "in the garden" / "im Garten": a place of one of the kinds, or a town.
Phrase draw_place(RandomStream& random, std::uint32_t kinds);
/// "to the station" / "zum Bahnhof", "to Berlin" / "nach Berlin"; where the verb of motion fits.
Phrase draw_direction(RandomStream& random, const Verb& motion);
/// "at half past seven" / "um halb acht".
Phrase draw_clock(RandomStream& random);
/// "under the table" / "unter dem Tisch" (dative) or "unter den Tisch" (accusative).
Phrase draw_furniture_place(RandomStream& random, Case grammatical_case);

/// The time of an action. It decides the tense and the time adverbial.
enum class Frame { Present, Past, Future };
Frame draw_frame(RandomStream& random);

enum class Detail {
  Bare,  ///< verb and objects
  Full,  ///< with time, place, manner, negation, modal verb
};

/// An action of the subject, by any verb for persons.
Clause draw_action(RandomStream& random, const NounPhrase& subject, Frame frame, Detail detail);
/// An action that the subject could be asked to do, or tries or plans to do: present, no modal
/// verb, no negation.
Clause draw_deed(RandomStream& random, const NounPhrase& subject);
/// Whether the English words show that the clause is past; "they read" and "they put" could be the
/// present.
bool shows_past(const Clause& clause);
/// Adds the tense, and the words around verb and objects.
void draw_circumstances(RandomStream& random, Clause& clause, Frame frame, Detail detail);
/// "it rains" / "es regnet".
Clause draw_weather(RandomStream& random, Frame frame);

}  // namespace dragoman
