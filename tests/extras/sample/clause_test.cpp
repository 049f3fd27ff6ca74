// Inflection and word order of the sample corpus, against sentences written by hand.
#include "extras/sample/clause.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "extras/sample/english.h"

namespace dragoman {
namespace {

const Noun& noun(std::string_view english) {
  for (const Noun& one : nouns()) {
    if (one.english == english) return one;
  }
  for (const Place& place : places()) {
    if (place.noun.english == english) return place.noun;
  }
  throw std::invalid_argument(std::string(english));
}

const Adjective& adjective(std::string_view english) {
  for (const Adjective& one : adjectives()) {
    if (one.english == english) return one;
  }
  throw std::invalid_argument(std::string(english));
}

const Verb& verb(std::string_view german) {
  for (auto verbs : {object_verbs(), recipient_verbs(), activity_verbs(), motion_verbs()}) {
    for (const Verb& one : verbs) {
      if (infinitive(one.german) == german) return one;
    }
  }
  throw std::invalid_argument(std::string(german));
}

const Modal& modal(std::string_view german) {
  const auto found = std::find_if(modals().begin(), modals().end(), [german](const Modal& one) {
    return one.german_singular == german;
  });
  return *found;
}

NounPhrase the(std::string_view english) { return {.noun = &noun(english)}; }
NounPhrase a(std::string_view english) {
  return {.noun = &noun(english), .determiner = Determiner::Indefinite};
}

std::string declined(NounPhrase phrase, std::string_view with) {
  phrase.adjectives = {&adjective(with)};
  std::string cases;
  for (Case one : {Case::Nominative, Case::Accusative, Case::Dative}) {
    cases += german_phrase(phrase, one) + "; ";
  }
  return cases;
}

TEST(SampleGerman, AdjectivesFollowTheArticle) {
  EXPECT_EQ(declined(the("man"), "old"), "der alte Mann; den alten Mann; dem alten Mann; ");
  EXPECT_EQ(declined(the("woman"), "old"), "die alte Frau; die alte Frau; der alten Frau; ");
  EXPECT_EQ(declined(a("man"), "old"), "ein alter Mann; einen alten Mann; einem alten Mann; ");
  EXPECT_EQ(declined(a("woman"), "old"), "eine alte Frau; eine alte Frau; einer alten Frau; ");
  EXPECT_EQ(declined(a("car"), "expensive"),
            "ein teures Auto; ein teures Auto; einem teuren Auto; ");
  NounPhrase boys = the("boy");
  boys.number = Number::Plural;
  EXPECT_EQ(declined(boys, "young"), "die jungen Jungen; die jungen Jungen; den jungen Jungen; ");
  boys.determiner = Determiner::Many;
  EXPECT_EQ(declined(boys, "young"),
            "viele junge Jungen; viele junge Jungen; vielen jungen Jungen; ");
  EXPECT_EQ(declined(a("milk"), "cold"), "kalte Milch; kalte Milch; kalter Milch; ");
  NounPhrase mine = the("dog");
  mine.determiner = Determiner::Possessive;
  mine.possessor = &pronouns::kWe;
  EXPECT_EQ(declined(mine, "big"), "unser großer Hund; unseren großen Hund; unserem großen Hund; ");
  NounPhrase owned = the("book");
  owned.determiner = Determiner::Owner;
  owned.owner = &people()[0];
  EXPECT_EQ(declined(owned, "new"), "Annas neues Buch; Annas neues Buch; Annas neuem Buch; ");
}

TEST(SampleGerman, WeakNounsAndDativePluralsTakeAnN) {
  EXPECT_EQ(declined_noun(noun("boy"), Number::Singular, Case::Dative), "Jungen");
  EXPECT_EQ(declined_noun(noun("child"), Number::Plural, Case::Dative), "Kindern");
  EXPECT_EQ(declined_noun(noun("car"), Number::Plural, Case::Dative), "Autos");
  EXPECT_EQ(declined_noun(noun("woman"), Number::Plural, Case::Dative), "Frauen");
}

TEST(SampleGerman, PrepositionsContractWithTheArticle) {
  EXPECT_EQ(german_phrase("in", the("garden"), Case::Dative), "im Garten");
  EXPECT_EQ(german_phrase("in", the("house"), Case::Accusative), "ins Haus");
  EXPECT_EQ(german_phrase("zu", the("bridge"), Case::Dative), "zur Brücke");
  EXPECT_EQ(german_phrase("in", the("city"), Case::Dative), "in der Stadt");
  EXPECT_EQ(german_phrase("in", a("house"), Case::Dative), "in einem Haus");
}

TEST(SampleGerman, VerbsAgreeWithTheSubject) {
  EXPECT_EQ(present_form(verb("waschen").german, Agreement::FirstSingular), "wasche");
  EXPECT_EQ(present_form(verb("waschen").german, Agreement::ThirdSingular), "wäscht");
  EXPECT_EQ(present_form(verb("waschen").german, Agreement::FirstPlural), "waschen");
  EXPECT_EQ(present_form(verb("kümmern").german, Agreement::FirstSingular), "kümmere");
  EXPECT_EQ(preterite_form("war", Agreement::ThirdPlural), "waren");
  EXPECT_EQ(preterite_form("hatte", Agreement::ThirdPlural), "hatten");
}

TEST(SampleEnglish, SpellingFollowsTheSound) {
  EXPECT_EQ(third_person("wash"), "washes");
  EXPECT_EQ(third_person("carry"), "carries");
  EXPECT_EQ(third_person("buy"), "buys");
  EXPECT_EQ(third_person("go"), "goes");
  EXPECT_EQ(third_person("have"), "has");
  EXPECT_EQ(with_indefinite_article("old man"), "an old man");
  EXPECT_EQ(with_indefinite_article("man"), "a man");
}

Clause opening() {
  return {.subject = the("man"), .verb = &verb("aufmachen"), .object = the("door")};
}

void expect_phrase(const Phrase& phrase, const std::string& english, const std::string& german) {
  EXPECT_EQ(phrase.english, english);
  EXPECT_EQ(phrase.german, german);
}

TEST(SampleClause, TheVerbComesSecondAndItsPrefixLast) {
  expect_phrase(statement(opening()), "the man opens the door", "der Mann macht die Tür auf");
  expect_phrase(statement(opening(), {"today", "heute"}), "today the man opens the door",
                "heute macht der Mann die Tür auf");
}

TEST(SampleClause, TheVerbComesLastInASubordinateClause) {
  expect_phrase(subordinate({"because", "weil"}, opening()), "because the man opens the door",
                "weil der Mann die Tür aufmacht");
  Clause past = opening();
  past.tense = Tense::Past;
  expect_phrase(subordinate({"that", "dass"}, past), "that the man opened the door",
                "dass der Mann die Tür aufgemacht hat");
  Clause wish = opening();
  wish.modal = &modal("will");
  expect_phrase(subordinate({"if", "wenn"}, wish), "if the man wants to open the door",
                "wenn der Mann die Tür aufmachen will");
}

TEST(SampleClause, TensesTakeTheirAuxiliary) {
  Clause clause = opening();
  clause.tense = Tense::Progressive;
  expect_phrase(statement(clause), "the man is opening the door", "der Mann macht die Tür auf");
  clause.tense = Tense::Perfect;
  expect_phrase(statement(clause), "the man has opened the door",
                "der Mann hat die Tür aufgemacht");
  clause.tense = Tense::Future;
  expect_phrase(statement(clause), "the man will open the door", "der Mann wird die Tür aufmachen");
  const Clause gone{.subject = the("girl"), .verb = &verb("gehen"), .tense = Tense::Past};
  expect_phrase(statement(gone), "the girl went", "das Mädchen ist gegangen");
}

TEST(SampleClause, InfinitivesTakeZuInsideTheVerb) {
  expect_phrase(zu_infinitive_clause(opening(), EnglishInfinitive::To), "open the door",
                "die Tür aufzumachen");
  const Clause reading{.subject = the("man"), .verb = &verb("lesen"), .object = a("book")};
  expect_phrase(zu_infinitive_clause(reading, EnglishInfinitive::Ing), "reading a book",
                "ein Buch zu lesen");
}

TEST(SampleClause, NegationIsKeinBeforeIndefiniteObjects) {
  Clause clause = opening();
  clause.negated = true;
  expect_phrase(statement(clause), "the man does not open the door",
                "der Mann macht die Tür nicht auf");
  clause.object = a("door");
  expect_phrase(statement(clause), "the man does not open a door", "der Mann macht keine Tür auf");
  clause.modal = &modal("kann");
  expect_phrase(statement(clause), "the man cannot open a door",
                "der Mann kann keine Tür aufmachen");
}

TEST(SampleClause, QuestionsTakeDoInEnglish) {
  expect_phrase(question(opening()), "does the man open the door", "macht der Mann die Tür auf");
  Clause what = opening();
  what.object.reset();
  what.tense = Tense::Past;
  expect_phrase(question(what, {"what", "was"}), "what did the man open",
                "was hat der Mann aufgemacht");
}

TEST(SampleClause, RequestsArePolite) {
  Clause clause = opening();
  expect_phrase(request(clause), "please open the door", "bitte machen Sie die Tür auf");
  clause.negated = true;
  expect_phrase(request(clause), "please do not open the door",
                "bitte machen Sie die Tür nicht auf");
}

TEST(SampleClause, PronounsComeBeforeANounSubjectUnlessTheyReadAsOne) {
  Clause clause{.subject = the("man"), .verb = &verb("helfen"), .time = {"today", "heute"}};
  clause.object = NounPhrase{.pronoun = &pronouns::kShe};
  expect_phrase(question(clause), "does the man help her today", "hilft ihr der Mann heute");
  clause.verb = &verb("besuchen");
  expect_phrase(question(clause), "does the man visit her today", "besucht der Mann sie heute");
  clause.object = NounPhrase{.pronoun = &pronouns::kHe};
  expect_phrase(question(clause), "does the man visit him today", "besucht ihn der Mann heute");
  clause.verb = &verb("abholen");
  expect_phrase(statement(clause), "the man picks him up today", "der Mann holt ihn heute ab");
}

TEST(SampleClause, ReflexiveVerbsAgree) {
  Clause clause{.subject = the("child"), .verb = &verb("freuen"), .object = the("trip")};
  expect_phrase(statement(clause, {"today", "heute"}), "today the child looks forward to the trip",
                "heute freut sich das Kind auf die Reise");
  clause.subject = {.pronoun = &pronouns::kWe};
  expect_phrase(statement(clause), "we look forward to the trip", "wir freuen uns auf die Reise");
}

TEST(SampleClause, RecipientsAreDativeAndKnownObjectsComeBeforeAdverbs) {
  Clause clause{.subject = the("boy"),
                .verb = &verb("geben"),
                .recipient = the("boy"),
                .object = the("ball")};
  clause.frequency = {"often", "oft"};
  expect_phrase(statement(clause), "the boy often gives the boy the ball",
                "der Junge gibt dem Jungen den Ball oft");
  clause.object = a("ball");
  expect_phrase(statement(clause), "the boy often gives the boy a ball",
                "der Junge gibt dem Jungen oft einen Ball");
}

TEST(SampleClause, GernStandsForLikesTo) {
  Clause clause{.subject = the("man"), .verb = &verb("lesen"), .object = a("book")};
  clause.modal = &modal("");
  expect_phrase(statement(clause), "the man likes to read a book", "der Mann liest gern ein Buch");
}

TEST(SampleClause, TheOrderOfTheWordsDecidesWhoDoesWhat) {
  const Clause one{.subject = the("dog"), .verb = &verb("sehen"), .object = the("man")};
  const Clause other{.subject = the("man"), .verb = &verb("sehen"), .object = the("dog")};
  expect_phrase(statement(one), "the dog sees the man", "der Hund sieht den Mann");
  expect_phrase(statement(other), "the man sees the dog", "der Mann sieht den Hund");
}

}  // namespace
}  // namespace dragoman
