// The generator of the sample corpus: fills the sentences of words.h with words that fit each
// other.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "extras/sample/sample_corpus.h"
#include "extras/sample/words.h"

namespace dragoman {
namespace {

using Fields = std::vector<std::string>;

Fields split(std::string_view text, char separator) {
  Fields fields;
  for (std::size_t end = 0; end != std::string_view::npos; text.remove_prefix(end + 1)) {
    end = text.find(separator);
    std::string_view field = text.substr(0, end);
    while (field.starts_with(' ')) field.remove_prefix(1);
    while (field.ends_with(' ')) field.remove_suffix(1);
    fields.emplace_back(field);
    if (end == std::string_view::npos) break;
  }
  return fields;
}

struct Entry {
  std::string group;
  Fields fields;
};
using Table = std::vector<Entry>;

Table read(std::string_view text) {
  Table table;
  for (const std::string& line : split(text, '\n')) {
    const Fields entries = split(line, '|');
    for (std::size_t i = 1; i < entries.size(); ++i)
      table.push_back({entries[0], split(entries[i], ',')});
  }
  return table;
}

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
      return true;
  }
  return false;
}

/// An entry whose group shares a word with `words`.
const Entry& draw(RandomStream& random, const Table& table, const std::string& words) {
  const Fields wanted = split(words, ' ');
  std::vector<const Entry*> fitting;
  for (const Entry& entry : table)
    if (std::ranges::any_of(wanted, [&](const auto& word) { return has_word(entry.group, word); }))
      fitting.push_back(&entry);
  return *random.choice(fitting);
}

/// Joined by spaces; empty parts are left out.
std::string joined(std::initializer_list<std::string> parts) {
  std::string text;
  for (const std::string& part : parts)
    if (!part.empty()) text += (text.empty() ? "" : " ") + part;
  return text;
}

// ---- noun phrases -------------------------------------------------------------------------------

enum Case { Nominative, Accusative, Dative };
enum Person { First, Third, Plural };

struct NounPhrase {
  std::string english, english_object;
  std::array<std::string, 3> german = {};  ///< by case
  Person person = Third;
  SamplePair possessive = {};  ///< "his" and "sein"; empty for what is neuter
  bool is_pronoun = false, is_indefinite = false;
};

/// The words before a noun, in German without an ending. `owner` has the possessive of who may own
/// it.
SamplePair draw_determiner(RandomStream& random, const std::string& kind, bool plural,
                           const SamplePair& owner) {
  const std::uint64_t choice = kind == "relative" ? 0 : random.below(10);
  if (choice < 3 && kind != "person" && !owner.source.empty()) return owner;
  if (kind == "relative")
    return random.chance(0.5) ? SamplePair{"my", "mein"} : SamplePair{"our", "unser"};
  if (choice == 9) return {plural ? "these" : "this", "dies"};
  if (choice > 5) return {"the", "d"};
  return plural ? SamplePair{"many", "viel"} : SamplePair{"a", "ein"};
}

/// "the old man", "a red car", "my keys".
NounPhrase draw_noun(RandomStream& random, const std::string& kinds, const SamplePair& owner) {
  static const Table nouns = read(kNouns), adjectives = read(kAdjectives), endings = read(kEndings);
  static const std::array<SamplePair, 4> possessives = {
      SamplePair{"his", "sein"}, {"her", "ihr"}, {"", ""}, {"their", "ihr"}};
  const auto& [kind, noun] = draw(random, nouns, kinds);
  const bool plural = random.chance(0.25), is_weak = noun[2] == "w";
  const std::size_t gender = plural ? 3 : is_weak ? 0 : std::string("mfn").find(noun[2]);
  const SamplePair determiner = draw_determiner(random, kind, plural, owner);
  const Fields adjective =
      random.chance(0.35) ? draw(random, adjectives, kind).fields : Fields{"", ""};
  const std::string words = joined({adjective[0], noun[plural ? 1 : 0]});
  const bool is_a = determiner.source == "a";
  const bool is_an = is_a && std::string("aeiou").find(words[0]) != std::string::npos;
  NounPhrase phrase{.english = joined({is_an ? "an" : determiner.source, words}),
                    .english_object = "",
                    .person = plural ? Plural : Third,
                    .possessive = possessives[gender],
                    .is_indefinite = is_a};
  phrase.english_object = phrase.english;
  const std::string stem =
      adjective[1].substr(0, adjective[1].size() - adjective[1].ends_with('e'));
  // Possessives are declined as "ein".
  const auto row = std::ranges::find_if(endings, [&](const Entry& entry) {
    return entry.group == determiner.target || entry.group == "ein";
  });
  for (const Case c : {Nominative, Accusative, Dative}) {
    std::string word = noun[plural || (is_weak && c != Nominative) ? 4 : 3];
    if (plural && c == Dative && !word.ends_with('n') && !word.ends_with('s')) word += 'n';
    phrase.german[c] = joined({determiner.target + row[c].fields[gender],
                               stem.empty() ? "" : stem + row[c + 3].fields[gender], word});
  }
  return phrase;
}

/// A noun of these kinds; a person may be a name or a pronoun. It is never `other`, who may own it.
NounPhrase draw_phrase(RandomStream& random, const std::string& kinds,
                       const NounPhrase& other = {}) {
  static const Table persons = read(kPersons);
  for (;;) {
    NounPhrase phrase;
    if (has_word(kinds, "person") && random.chance(0.4)) {
      const std::string kind = random.chance(0.5) ? "pronoun" : "name";
      const auto& [group, words] = draw(random, persons, kind);
      phrase = {.english = words[0],
                .english_object = words[1],
                .german = {words[3], words[4], words[5]},
                .person = has_word(group, "first")    ? First
                          : has_word(group, "plural") ? Plural
                                                      : Third,
                .possessive = {words[2], words[6]},
                .is_pronoun = has_word(group, "pronoun")};
    } else {
      phrase = draw_noun(random, kinds, other.possessive);
    }
    if (phrase.english != other.english) return phrase;
  }
}

// ---- clauses ------------------------------------------------------------------------------------

/// "Peter did not repair the car" and "Peter hat das Auto nicht repariert", in the parts that each
/// order moves.
struct Clause {
  std::string subject, auxiliary, rest;  ///< "Peter", "did", "not repair the car"
  std::string simple;                    ///< "repaired the car", if a statement needs no auxiliary
  std::string german_subject, finite, middle, end;
  std::string last;  ///< end and finite verb, as a subordinate clause joins them
};

/// The forms of a verb in one tense.
struct Form {
  std::string times;               ///< the group of adverbials of time that fit it, if any
  std::string auxiliary, english;  ///< "did", "repair"
  std::string simple;              ///< "repaired": in place of both in a statement
  std::string finite, end;         ///< "hat", "repariert"; "ruft", "an"
};

/// "tries", "goes", "picks up".
std::string third_person(const std::string& verb) {
  const std::size_t end = std::min(verb.find(' '), verb.size());
  const std::string word = verb.substr(0, end), particle = verb.substr(end);
  if (word.ends_with("ry")) return word.substr(0, end - 1) + "ies" + particle;
  return word + (word.ends_with('o') || word.ends_with("sh") ? "es" : "s") + particle;
}

Form draw_form(RandomStream& random, const Fields& verb, Person person, bool is_negated) {
  const bool is_third = person == Third;
  const std::size_t dash = verb[3].find('-');
  const std::string prefix = dash == std::string::npos ? "" : verb[3].substr(0, dash);
  const std::string bare = verb[3].substr(dash + 1), infinitive = prefix + bare;
  const std::array<std::string, 3> present = {bare.substr(0, bare.size() - 1), verb[4], bare};
  static const std::array<std::string, 3> have = {"habe", "hat", "haben"},
                                          am = {"bin", "ist", "sind"},
                                          shall = {"werde", "wird", "werden"},
                                          can = {"kann", "kann", "können"},
                                          should = {"soll", "soll", "sollen"},
                                          must = {"muss", "muss", "müssen"};
  const auto& perfect = verb.size() > 6 ? am : have;
  const std::string now = is_third ? third_person(verb[0]) : verb[0];
  switch (random.below(8)) {
    case 0:
    case 1:
      return {"present", is_third ? "does" : "do", verb[0], now, present[person], prefix};
    case 2:
    case 3:
      return {"past", "did", verb[0], verb[1], perfect[person], verb[5]};
    case 4:
      return {"", is_third ? "has" : "have", verb[2], "", perfect[person], verb[5]};
    case 5:
      return {"future", "will", verb[0], "", shall[person], infinitive};
    case 6:
      return {"", "can", verb[0], "", can[person], infinitive};
    default:  // "must not" is not "muss nicht"
      if (is_negated) return {"", "should", verb[0], "", should[person], infinitive};
      return {"", "must", verb[0], "", must[person], infinitive};
  }
}

/// What follows a verb. The German parts stand before the time, after it, and after "nicht".
struct Objects {
  std::string english, pronouns, nouns, others;
  bool has_kein = false;
};

const Fields& draw_adverbial(RandomStream& random, const std::string& group) {
  static const Table adverbials = read(kAdverbials);
  return draw(random, adverbials, group).fields;
}

Objects draw_objects(RandomStream& random, const std::string& group, const NounPhrase& subject,
                     bool is_negated) {
  Objects objects;
  Fields words = split(group, ' ');
  const std::string first = words[0];
  if (first == "nothing" || (first == "place" && random.chance(0.3))) return objects;
  const auto add_adverbial = [&] {
    const Fields& adverbial = draw_adverbial(random, first);
    objects.english = joined({objects.english, adverbial[0]});
    objects.others = adverbial[1];
  };
  if (first == "place" || first == "direction") {
    add_adverbial();
    return objects;
  }
  if (first == "to") {
    const NounPhrase recipient = draw_phrase(random, "person relative", subject);
    objects.english = recipient.english_object;
    (recipient.is_pronoun ? objects.pronouns : objects.nouns) = recipient.german[Dative];
  }
  const NounPhrase object = draw_phrase(random, group, subject);
  objects.english = joined({objects.english, object.english_object});
  const std::string& german = object.german[has_word(group, "dat") ? Dative : Accusative];
  if (has_word("auf an mit von", first)) {
    objects.others = first + ' ' + german;
  } else if (object.is_pronoun) {
    objects.pronouns = german;
  } else {
    objects.has_kein = is_negated && object.is_indefinite;
    objects.nouns = joined({objects.nouns, (objects.has_kein ? "k" : "") + german});
  }
  if (first == "goal") add_adverbial();
  return objects;
}

Clause draw_clause(RandomStream& random, bool may_have_time, bool asks_who) {
  static const Table verbs = read(kVerbs);
  NounPhrase subject = draw_phrase(random, "person relative");
  if (asks_who) subject = {.english = "who", .english_object = "", .german = {"wer"}};
  const bool is_negated = !asks_who && random.chance(0.2);
  const auto& [group, verb] = random.choice(verbs);
  const Form form = draw_form(random, verb, subject.person, is_negated);
  const bool has_time = may_have_time && !form.times.empty() && random.chance(0.6);
  const Fields time = has_time ? draw_adverbial(random, form.times) : Fields{"", ""};
  const Objects objects = draw_objects(random, group, subject, is_negated);
  return {.subject = subject.english,
          .auxiliary = form.auxiliary,
          .rest = joined({is_negated ? "not" : "", form.english, objects.english, time[0]}),
          .simple = is_negated || form.simple.empty()
                        ? ""
                        : joined({form.simple, objects.english, time[0]}),
          .german_subject = subject.german[Nominative],
          .finite = form.finite,
          .middle = joined({objects.pronouns, time[1], objects.nouns,
                            is_negated && !objects.has_kein ? "nicht" : "", objects.others}),
          .end = form.end,
          .last = form.times == "present" ? form.end + form.finite : form.end + ' ' + form.finite};
}

/// In one of the orders of kSentences.
std::string ordered(const Clause& clause, char order) {
  switch (order) {
    case 's':
      if (!clause.simple.empty()) return joined({clause.subject, clause.simple});
      if (clause.auxiliary == "can" && clause.rest.starts_with("not "))
        return clause.subject + " can" + clause.rest;
      return joined({clause.subject, clause.auxiliary, clause.rest});
    case 'q':
      return joined({clause.auxiliary, clause.subject, clause.rest});
    case '1':
      return joined({clause.finite, clause.german_subject, clause.middle, clause.end});
    case '2':
      return joined({clause.german_subject, clause.finite, clause.middle, clause.end});
    default:
      return joined({clause.german_subject, clause.middle, clause.last});
  }
}

// ---- sentences ----------------------------------------------------------------------------------

/// A number from 2 to 99 in words.
SamplePair number_words(std::uint64_t number) {
  static const std::array english = {
      split(",,two,three,four,five,six,seven,eight,nine,ten,eleven,twelve,thirteen,fourteen,"
            "fifteen,sixteen,"
            "seventeen,eighteen,nineteen",
            ','),
      split(",,twenty,thirty,forty,fifty,sixty,seventy,eighty,ninety", ','),
      split(",-one,-two,-three,-four,-five,-six,-seven,-eight,-nine", ',')};
  static const std::array german = {
      split(",,zwei,drei,vier,fünf,sechs,sieben,acht,neun,zehn,elf,zwölf,dreizehn,vierzehn,"
            "fünfzehn,sechzehn,"
            "siebzehn,achtzehn,neunzehn",
            ','),
      split(",,zwanzig,dreißig,vierzig,fünfzig,sechzig,siebzig,achtzig,neunzig", ','),
      split(",einund,zweiund,dreiund,vierund,fünfund,sechsund,siebenund,achtund,neunund", ',')};
  if (number < 20) return {english[0][number], german[0][number]};
  const std::uint64_t tens = number / 10, ones = number % 10;
  return {english[1][tens] + english[2][ones], german[2][ones] + german[1][tens]};
}

/// "1,234" and "1.234".
SamplePair number_digits(std::uint64_t number) {
  SamplePair digits{std::to_string(number), std::to_string(number)};
  for (std::size_t at = digits.source.size(); at > 3;) {
    at -= 3;
    digits.source.insert(at, ",");
    digits.target.insert(at, ".");
  }
  return digits;
}

/// What stands for the brackets of one sentence.
class Filling {
 public:
  explicit Filling(RandomStream& random) : random_(random), hour_(2 + random.below(10)) {}

  SamplePair of(const std::string& bracket) {
    const char name = bracket[0];
    if (name == 'H') return number_words(hour_);
    if (name == 'h') return number_words(hour_ + 1);
    if (bracket.size() == 3) {
      if (!clauses_.contains(name)) clauses_[name] = draw_clause(random_, name != 'T', name == 'W');
      return {ordered(clauses_[name], bracket[2]), ordered(clauses_[name], bracket[2])};
    }
    if (!pairs_.contains(name)) pairs_[name] = draw_pair(name);
    return pairs_[name];
  }

 private:
  SamplePair draw_pair(char name) {
    if (name == 'Y') return number_words(2 + random_.below(98));
    if (name == 'N') return number_digits(2 + random_.below(random_.chance(0.5) ? 999 : 99'999));
    if (name == 'E') {
      static const Table adjectives = read(kAdjectives);
      const Fields& adjective = draw(random_, adjectives, "relative").fields;
      return {adjective[0], adjective[1]};
    }
    for (;;) {
      const NounPhrase person = draw_phrase(random_, "person relative");
      if (person.person == Third && !person.is_pronoun)
        return {person.english, person.german[Nominative]};
    }
  }

  RandomStream& random_;
  std::uint64_t hour_;
  std::map<char, Clause> clauses_;
  std::map<char, SamplePair> pairs_;
};

std::string filled(const std::string& sentence, Filling& filling, std::string SamplePair::*side) {
  std::string text;
  for (std::size_t at = 0; at < sentence.size(); ++at) {
    const std::size_t end = sentence[at] == '[' ? sentence.find(']', at) : at;
    text += end == at ? sentence.substr(at, 1)
                      : filling.of(sentence.substr(at + 1, end - at - 1)).*side;
    at = end;
  }
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

SamplePair sample_pair(std::uint64_t seed, std::uint64_t index) {
  static const std::vector<Fields> sentences = [] {
    std::vector<Fields> often;
    for (const std::string& line : split(kSentences, '\n'))
      if (!line.empty()) often.insert(often.end(), std::stoul(line), split(line, '|'));
    return often;
  }();
  RandomStream random(seed, index);
  const Fields& sentence = random.choice(sentences);
  Filling filling(random);
  SamplePair pair;
  pair.source = filled(sentence[1], filling, &SamplePair::source);
  pair.target = filled(sentence[2], filling, &SamplePair::target);
  return pair;
}

}  // namespace dragoman
