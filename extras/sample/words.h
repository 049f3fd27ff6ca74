// The tables of the sample corpus: words of two languages, and the sentences that they fill. A line
// has a group and entries, between "|"; an entry has fields, between ",".
#pragma once

#include <string_view>

namespace dragoman {

/// English, plural; gender; German, plural. The gender w is a masculine noun that takes the form of
/// its plural in all cases but the nominative ("den Jungen").
inline constexpr std::string_view kNouns = R"(
person | man, men, m, Mann, Männer | woman, women, f, Frau, Frauen | child, children, n, Kind, Kinder
person | boy, boys, w, Junge, Jungen | girl, girls, n, Mädchen, Mädchen | guest, guests, m, Gast, Gäste
person | teacher, teachers, m, Lehrer, Lehrer | doctor, doctors, m, Arzt, Ärzte | cook, cooks, m, Koch, Köche
person | baker, bakers, m, Bäcker, Bäcker | student, students, w, Student, Studenten
person | artist, artists, m, Künstler, Künstler | nurse, nurses, f, Krankenschwester, Krankenschwestern
person | neighbor, neighbors, w, Nachbar, Nachbarn
relative | friend, friends, m, Freund, Freunde | brother, brothers, m, Bruder, Brüder
relative | sister, sisters, f, Schwester, Schwestern | uncle, uncles, m, Onkel, Onkel | aunt, aunts, f, Tante, Tanten
relative | daughter, daughters, f, Tochter, Töchter | son, sons, m, Sohn, Söhne
animal | dog, dogs, m, Hund, Hunde | cat, cats, f, Katze, Katzen | horse, horses, n, Pferd, Pferde
animal | bird, birds, m, Vogel, Vögel
food | apple, apples, m, Apfel, Äpfel | egg, eggs, n, Ei, Eier | cake, cakes, m, Kuchen, Kuchen
food | potato, potatoes, f, Kartoffel, Kartoffeln | soup, soups, f, Suppe, Suppen | pear, pears, f, Birne, Birnen
text | book, books, n, Buch, Bücher | letter, letters, m, Brief, Briefe | report, reports, m, Bericht, Berichte
text | poem, poems, n, Gedicht, Gedichte | story, stories, f, Geschichte, Geschichten
machine | car, cars, n, Auto, Autos | bicycle, bicycles, n, Fahrrad, Fahrräder | boat, boats, n, Boot, Boote
machine | computer, computers, m, Computer, Computer | clock, clocks, f, Uhr, Uhren
machine | camera, cameras, f, Kamera, Kameras
opening | door, doors, f, Tür, Türen | window, windows, n, Fenster, Fenster
thing | suitcase, suitcases, m, Koffer, Koffer | bottle, bottles, f, Flasche, Flaschen | key, keys, m, Schlüssel, Schlüssel
thing | coat, coats, m, Mantel, Mäntel | shirt, shirts, n, Hemd, Hemden | jacket, jackets, f, Jacke, Jacken
thing | bag, bags, f, Tasche, Taschen | picture, pictures, n, Bild, Bilder | flower, flowers, f, Blume, Blumen
thing | ball, balls, m, Ball, Bälle | knife, knives, n, Messer, Messer
)";

/// The group has the kinds of nouns that the adjectives fit.
inline constexpr std::string_view kAdjectives = R"(
person relative | friendly, freundlich | rich, reich | famous, berühmt
person relative animal | tired, müde | young, jung | sick, krank
person relative animal text machine opening thing | old, alt
animal food text machine opening thing | small, klein | big, groß
text machine opening thing | new, neu
food text | good, gut
text | long, lang | interesting, interessant
food | fresh, frisch | cold, kalt
machine | fast, schnell | broken, kaputt
machine thing | cheap, billig | dirty, schmutzig
thing | heavy, schwer
animal machine opening thing | black, schwarz | white, weiß
machine opening thing | red, rot | blue, blau | green, grün
)";

/// English present, past, participle, each with its particle; German infinitive with its separable
/// prefix, the form after "er", participle; "sein" if the perfect has it. The group says what
/// follows: nothing, a place, a case or preposition with its case, and the kinds of its nouns; "to"
/// is a person and a thing, "goal" a thing and where it is put.
inline constexpr std::string_view kVerbs = R"(
acc food | eat, ate, eaten, essen, isst, gegessen | cook, cooked, cooked, kochen, kocht, gekocht
acc food text machine thing | buy, bought, bought, kaufen, kauft, gekauft
acc text machine thing | sell, sold, sold, verkaufen, verkauft, verkauft | find, found, found, finden, findet, gefunden
acc text thing | lose, lost, lost, verlieren, verliert, verloren
acc person relative animal thing | look for, looked for, looked for, suchen, sucht, gesucht
acc person relative animal thing | see, saw, seen, sehen, sieht, gesehen
acc text | write, wrote, written, schreiben, schreibt, geschrieben
acc machine opening | repair, repaired, repaired, reparieren, repariert, repariert
acc machine | wash, washed, washed, waschen, wäscht, gewaschen
acc thing | carry, carried, carried, tragen, trägt, getragen | need, needed, needed, brauchen, braucht, gebraucht
acc opening | open, opened, opened, auf-machen, macht, aufgemacht | close, closed, closed, zu-machen, macht, zugemacht
acc person relative | call, called, called, an-rufen, ruft, angerufen | love, loved, loved, lieben, liebt, geliebt
acc person relative | pick up, picked up, picked up, ab-holen, holt, abgeholt
acc person relative | invite, invited, invited, ein-laden, lädt, eingeladen
acc person relative | visit, visited, visited, besuchen, besucht, besucht
dat person relative | help, helped, helped, helfen, hilft, geholfen | thank, thanked, thanked, danken, dankt, gedankt
dat person relative | listen to, listened to, listened to, zu-hören, hört, zugehört
dat person animal | follow, followed, followed, folgen, folgt, gefolgt, sein
auf acc person relative text | wait for, waited for, waited for, warten, wartet, gewartet
an acc person relative | think of, thought of, thought of, denken, denkt, gedacht
mit dat person relative | talk to, talked to, talked to, sprechen, spricht, gesprochen
von dat person animal | dream of, dreamed of, dreamed of, träumen, träumt, geträumt
to text thing food | give, gave, given, geben, gibt, gegeben | send, sent, sent, schicken, schickt, geschickt
to text thing machine | show, showed, shown, zeigen, zeigt, gezeigt | lend, lent, lent, leihen, leiht, geliehen
goal thing | place, placed, placed, stellen, stellt, gestellt
place | sleep, slept, slept, schlafen, schläft, geschlafen | work, worked, worked, arbeiten, arbeitet, gearbeitet
place | sing, sang, sung, singen, singt, gesungen | dance, danced, danced, tanzen, tanzt, getanzt
direction | go, went, gone, gehen, geht, gegangen, sein | drive, drove, driven, fahren, fährt, gefahren, sein
nothing | get up, got up, got up, auf-stehen, steht, aufgestanden, sein
nothing | come back, came back, come back, zurück-kommen, kommt, zurückgekommen, sein
)";

/// The group is what follows a verb, or the tense that a time fits.
inline constexpr std::string_view kAdverbials = R"(
place | in the garden, im Garten | in the kitchen, in der Küche | in the city, in der Stadt | in the park, im Park
place | at the market, auf dem Markt | at the beach, am Strand | at home, zu Hause
direction | to the station, zum Bahnhof | to the village, ins Dorf | to the forest, in den Wald | home, nach Hause
direction | to school, in die Schule | to the library, in die Bibliothek | to Hamburg, nach Hamburg
goal | on the table, auf den Tisch | under the table, unter den Tisch | next to the bed, neben das Bett
goal | behind the chair, hinter den Stuhl | in front of the sofa, vor das Sofa
present | every day, jeden Tag | in the evening, am Abend | on Sundays, sonntags | in summer, im Sommer
past | yesterday, gestern | on Monday, am Montag | last week, letzte Woche | last year, letztes Jahr
past | two days ago, vor zwei Tagen | three weeks ago, vor drei Wochen | an hour ago, vor einer Stunde
future | tomorrow, morgen | soon, bald | next week, nächste Woche | next month, nächsten Monat
)";

/// English subject, object, possessive; German nominative, accusative, dative, possessive. The
/// group has the person.
inline constexpr std::string_view kPersons = R"(
pronoun first | I, me, my, ich, mich, mir, mein
pronoun third | he, him, his, er, ihn, ihm, sein | she, her, her, sie, sie, ihr, ihr
pronoun plural | we, us, our, wir, uns, uns, unser | they, them, their, sie, sie, ihnen, ihr
name third | Peter, Peter, his, Peter, Peter, Peter, sein | Paul, Paul, his, Paul, Paul, Paul, sein
name third | Mr. Wagner, Mr. Wagner, his, Herr Wagner, Herrn Wagner, Herrn Wagner, sein
name third | Anna, Anna, her, Anna, Anna, Anna, ihr | Maria, Maria, her, Maria, Maria, Maria, ihr
name third | Mrs. Keller, Mrs. Keller, her, Frau Keller, Frau Keller, Frau Keller, ihr
)";

/// German endings of determiners, then of the adjectives after them, by case (an entry): masculine,
/// feminine, neuter, plural. The group is the stem of the determiner.
inline constexpr std::string_view kEndings = R"(
d | er, ie, as, ie | en, ie, as, ie | em, er, em, en | e, e, e, en | en, e, e, en | en, en, en, en
dies | er, e, es, e | en, e, es, e | em, er, em, en | e, e, e, en | en, e, e, en | en, en, en, en
viel | er, e, es, e | en, e, es, e | em, er, em, en | er, e, es, e | en, e, es, e | em, er, em, en
ein | , e, , e | en, e, , e | em, er, em, en | er, e, es, en | en, e, es, en | en, en, en, en
)";

/// The group is how often; then English and German. [A s] is a clause A as a statement, [A q] as a
/// question after its first word. In German [A 2] has the verb in second place, [A 1] in first and
/// [A e] at the end. The subject of [W] is "who"; [T] has no time. [P] is a person, [E] an
/// adjective, [H] an hour and [h] the next hour, [Y] a number in words, [N] one in digits.
inline constexpr std::string_view kSentences = R"(
60 | [A s]. | [A 2].
10 | [A q]? | [A 1]?
5 | Why [A q]? | Warum [A 1]?
5 | When [T q]? | Wann [T 1]?
6 | [W s]? | [W 2]?
10 | [A s] because [B s]. | [A 2], weil [B e].
6 | Because [A s], [B s]. | Weil [A e], [B 1].
6 | [A s] although [B s]. | [A 2], obwohl [B e].
6 | If [A s], [B s]. | Wenn [A e], [B 1].
6 | [A s] and [B s]. | [A 2] und [B 2].
6 | [A s], but [B s]. | [A 2], aber [B 2].
4 | Because it rains, [A s]. | Weil es regnet, [A 1].
4 | [P] says that [A s]. | [P] sagt, dass [A e].
4 | [P] believes that [A s]. | [P] glaubt, dass [A e].
5 | [P] does not know whether [A s]. | [P] weiß nicht, ob [A e].
4 | Does [P] know why [A s]? | Weiß [P], warum [A e]?
4 | At [H] o'clock [T s]. | Um [H] Uhr [T 1].
4 | [T s] at half past [H]. | Um halb [h] [T 1].
5 | [P] is [E]. | [P] ist [E].
4 | [P] was not very [E]. | [P] war nicht sehr [E].
4 | Because [P] is too [E], [A s]. | Weil [P] zu [E] ist, [A 1].
4 | [P] is [Y] years old. | [P] ist [Y] Jahre alt.
3 | The village has [N] inhabitants. | Das Dorf hat [N] Einwohner.
3 | [P] paid [N] euros. | [P] hat [N] Euro bezahlt.
)";

}  // namespace dragoman
