#include <iterator>
#include <vector>

#include "extras/sample/draw.h"
#include "extras/sample/numbers.h"

namespace dragoman {
namespace {

/// Whether a sentence about the subject may be negated. Those about "nobody", "all" or "a doctor"
/// may not.
bool can_be_denied(const NounPhrase& subject) {
  const Pronoun* pronoun = subject.pronoun;
  return subject.definite() && pronoun != &pronouns::kNobody && pronoun != &pronouns::kEveryone &&
         pronoun != &pronouns::kSomeone && subject.and_also.empty();
}

bool denies(const NounPhrase& subject) {
  return subject.pronoun == &pronouns::kNobody ||
         (subject.noun != nullptr && subject.determiner == Determiner::Negative);
}

/// "not ... three books" would leave open which word is denied.
bool object_can_be_denied(const Clause& clause) {
  return !clause.object || clause.object->definite() ||
         clause.object->determiner == Determiner::Indefinite;
}

/// Makes a place or an event single and definite: nobody tidies up eleven kitchens.
void make_single_place(NounPhrase& object) {
  if ((object.noun->kinds & (kPlace | kEvent)) == 0 || object.definite()) return;
  object.determiner = Determiner::Definite;
  object.number = Number::Singular;
}

const Place& draw_place_noun(RandomStream& random, std::uint32_t kinds) {
  std::vector<const Place*> candidates;
  for (const Place& place : places()) {
    if ((place.noun.kinds & kinds) != 0) candidates.push_back(&place);
  }
  return *random.choice(candidates);
}

NounPhrase draw_verb_object(RandomStream& random, const Verb& verb, const NounPhrase& subject) {
  const bool person = (verb.objects & kPerson) != 0;
  if (person && (verb.objects == kPerson || random.chance(0.5))) {
    return draw_other_person(random, subject);
  }
  NounPhrase object = draw_object(random, verb.objects & ~kPerson, subject.taken_up_by());
  make_single_place(object);
  return object;
}

void draw_recipient_object(RandomStream& random, Clause& clause) {
  clause.recipient = draw_other_person(random, clause.subject);
  clause.object = draw_object(random, clause.verb->objects, clause.subject.taken_up_by());
  make_single_place(*clause.object);
  if (clause.recipient->pronoun == nullptr) return;
  // "gives her books" would be read as "her books".
  const bool bare = clause.object->number == Number::Plural || clause.object->noun->mass();
  if (bare && clause.object->determiner == Determiner::Indefinite) {
    clause.object->determiner = Determiner::Definite;
  }
}

void draw_tense(RandomStream& random, Clause& clause, Frame frame, Detail detail) {
  const bool settled = clause.verb->stative || clause.verb->involuntary;
  switch (frame) {
    case Frame::Present:
      if (!settled && random.chance(0.3)) clause.tense = Tense::Progressive;
      return;
    case Frame::Past:
      clause.tense = Tense::Past;
      if (!shows_past(clause) || (!settled && detail == Detail::Full && random.chance(0.25))) {
        clause.tense = Tense::Perfect;
      }
      return;
    case Frame::Future:
      if (!clause.verb->stative) clause.tense = Tense::Future;
      return;
  }
}

void draw_modal(RandomStream& random, Clause& clause, Frame frame) {
  const Modal& modal = draw_from(random, modals());
  if (frame == Frame::Past && !modal.has_past()) return;
  if (modal.german_singular.empty() && frame == Frame::Future) return;
  clause.modal = &modal;
  clause.tense = frame == Frame::Past ? Tense::Past : Tense::Present;
}

TimeOf time_of(const Clause& clause, Frame frame) {
  if (clause.tense == Tense::Progressive) return TimeOf::Now;
  if (frame == Frame::Past) return TimeOf::Past;
  return frame == Frame::Future || clause.modal != nullptr ? TimeOf::Future : TimeOf::Present;
}

/// "at half past seven", "tomorrow at nine o'clock", "on Monday", "in 1987".
void draw_exact_time(RandomStream& random, Phrase& time, TimeOf when) {
  const double draw = random.uniform();
  if (draw < 0.12) {
    time = draw_clock(random);
  } else if (draw < 0.2) {
    const std::string_view day = time.english;
    if (day != "tomorrow" && day != "yesterday" && day != "every day") return;
    const Phrase clock = draw_clock(random);
    time = {time.english + " " + clock.english, time.german + " " + clock.german};
  } else if (draw < 0.3) {
    const Phrase weekday = weekday_name(1 + static_cast<int>(random.below(7)));
    time = {"on " + weekday.english, "am " + weekday.german};
  } else if (draw < 0.35 && when == TimeOf::Past) {
    const std::string year = std::to_string(1950 + random.below(70));
    time = {"in " + year, "im Jahr " + year};
  }
}

void draw_time(RandomStream& random, Clause& clause, Frame frame) {
  const bool likes = clause.modal != nullptr && clause.modal->german_singular.empty();
  if (clause.tense == Tense::Perfect || likes) return;
  const TimeOf when = time_of(clause, frame);
  clause.time = draw_from(random, times(when));
  if (when != TimeOf::Now) draw_exact_time(random, clause.time, when);
}

}  // namespace

Phrase draw_place(RandomStream& random, std::uint32_t kinds) {
  const double draw = random.uniform();
  if (draw < 0.1 && kinds == kPlace) return {"at home", "zu Hause"};
  if (draw < 0.2) {
    const std::string town(draw_from(random, towns()));
    return {"in " + town, "in " + town};
  }
  const Place& place = draw_place_noun(random, kinds);
  NounPhrase phrase{.noun = &place.noun};
  if (random.chance(0.2)) {
    phrase.adjectives = {draw_adjective(random, place.noun, WhichAdjective::Any)};
  }
  return {join_words({place.english_at, english_phrase(phrase, Role::Object)}),
          german_phrase(place.german_at, phrase, Case::Dative)};
}

Phrase draw_direction(RandomStream& random, const Verb& motion) {
  const double draw = random.uniform();
  if (draw < 0.1) return {"home", "nach Hause"};
  if ((motion.objects & kFar) != 0 && draw < 0.4) {
    const std::string town(draw_from(random, towns()));
    return {"to " + town, "nach " + town};
  }
  const Place& place = draw_place_noun(random, motion.objects);
  NounPhrase phrase{.noun = &place.noun};
  if (random.chance(0.2)) {
    phrase.adjectives = {draw_adjective(random, place.noun, WhichAdjective::Any)};
  }
  const Case grammatical_case = place.german_to == "zu" ? Case::Dative : Case::Accusative;
  return {"to " + english_phrase(phrase, Role::Object),
          german_phrase(place.german_to, phrase, grammatical_case)};
}

Phrase draw_clock(RandomStream& random) {
  const bool in_words = random.chance(0.75);
  const int minute =
      in_words ? 5 * static_cast<int>(random.below(12)) : static_cast<int>(random.below(60));
  const int hour =
      in_words ? 1 + static_cast<int>(random.below(12)) : static_cast<int>(random.below(24));
  const Phrase time = in_words ? clock_time(hour, minute) : digital_time(hour, minute);
  return {"at " + time.english, "um " + time.german};
}

Phrase draw_furniture_place(RandomStream& random, Case grammatical_case) {
  struct Preposition {
    std::string_view english, german;
  };
  constexpr Preposition kPrepositions[] = {{"on", "auf"},        {"on", "auf"},
                                           {"under", "unter"},   {"next to", "neben"},
                                           {"behind", "hinter"}, {"in front of", "vor"}};
  const Preposition& preposition = kPrepositions[random.below(std::size(kPrepositions))];
  NounPhrase furniture = draw_definite(random, kFurniture, nullptr);
  furniture.number = Number::Singular;
  return {join_words({preposition.english, english_phrase(furniture, Role::Object)}),
          german_phrase(preposition.german, furniture, grammatical_case)};
}

Frame draw_frame(RandomStream& random) {
  constexpr int kWeights[] = {45, 33, 22};
  return static_cast<Frame>(draw_weighted(random, kWeights));
}

void draw_circumstances(RandomStream& random, Clause& clause, Frame frame, Detail detail) {
  draw_tense(random, clause, frame, detail);
  const bool stative = clause.verb->stative;
  const bool deniable = can_be_denied(clause.subject) && object_can_be_denied(clause);
  if (random.chance(detail == Detail::Full ? 0.17 : 0.1)) clause.negated = deniable;
  if (stative) return;
  if (!clause.verb->involuntary && random.chance(detail == Detail::Full ? 0.2 : 0.08)) {
    draw_modal(random, clause, frame);
  }
  if (detail == Detail::Bare) return;
  const bool plain = clause.modal == nullptr && !clause.negated && !denies(clause.subject);
  if (random.chance(0.45)) draw_time(random, clause, frame);
  if (plain && clause.time.empty() && clause.tense != Tense::Progressive && random.chance(0.3) &&
      frame != Frame::Future) {
    clause.frequency = draw_from(random, frequencies());
  } else if (clause.verb->careful && !clause.negated && random.chance(0.2)) {
    clause.manner = draw_from(random, manners());
  }
  const bool at_a_place = clause.object && clause.object->noun != nullptr &&
                          (clause.object->noun->kinds & (kPlace | kRoom | kEvent)) != 0;
  if (clause.complement.empty() && !at_a_place && random.chance(0.15)) {
    clause.place = draw_place(random, kPlace);
  }
}

Clause draw_action(RandomStream& random, const NounPhrase& subject, Frame frame, Detail detail) {
  Clause clause{.subject = subject};
  constexpr int kWeights[] = {52, 11, 13, 13, 6, 5};
  switch (draw_weighted(random, kWeights)) {
    case 0:
      clause.verb = &draw_from(random, object_verbs());
      clause.object = draw_verb_object(random, *clause.verb, subject);
      break;
    case 1:
      clause.verb = &draw_from(random, recipient_verbs());
      draw_recipient_object(random, clause);
      break;
    case 2:
      clause.verb = &draw_from(random, activity_verbs());
      break;
    case 3:
      clause.verb = &draw_from(random, motion_verbs());
      clause.complement = draw_direction(random, *clause.verb);
      break;
    case 4:
      clause.verb = &to_have();
      clause.object = draw_object(random, clause.verb->objects, subject.taken_up_by());
      if (clause.object->definite()) clause.object->determiner = Determiner::Indefinite;
      clause.object->superlative = false;
      break;
    default:
      clause.verb = &draw_from(random, placing_verbs());
      clause.object = draw_object(random, clause.verb->objects, subject.taken_up_by());
      clause.complement = draw_furniture_place(random, Case::Accusative);
      break;
  }
  const bool own_name =
      subject.name != nullptr && clause.object && clause.object->owner == subject.name;
  if (own_name) clause.object->determiner = Determiner::Definite;
  draw_circumstances(random, clause, frame, detail);
  const bool alone = !clause.object && detail == Detail::Full && !clause.verb->involuntary;
  if (alone && clause.manner.empty() && random.chance(0.15)) {
    const NounPhrase other = draw_other_person(random, subject);
    if (!other.definite()) return clause;
    clause.manner = {"with " + english_phrase(other, Role::Object),
                     german_phrase("mit", other, Case::Dative)};
  }
  return clause;
}

Clause draw_deed(RandomStream& random, const NounPhrase& subject) {
  for (;;) {
    Clause clause = draw_action(random, subject, Frame::Present, Detail::Bare);
    if (clause.verb->stative || clause.verb->involuntary) continue;
    clause.negated = false;
    clause.modal = nullptr;
    clause.tense = Tense::Present;
    return clause;
  }
}

bool shows_past(const Clause& clause) {
  return clause.verb->english.past != clause.verb->english.base ||
         clause.subject.agreement() == Agreement::ThirdSingular;
}

Clause draw_weather(RandomStream& random, Frame frame) {
  Clause clause{.subject = {.pronoun = &pronouns::kIt},
                .verb = &draw_from(random, weather_verbs())};
  draw_tense(random, clause, frame, Detail::Bare);
  return clause;
}

}  // namespace dragoman
