#include "data/sample_lexicon.h"

namespace dragoman {
namespace {

constexpr Gender M = Gender::Masculine, F = Gender::Feminine, N = Gender::Neuter;
constexpr std::uint32_t kWoman = kPerson | kFemale;
constexpr std::uint32_t kReading = kReadable | kPortable | kFlat;

constexpr Noun kNouns[] = {
    // people
    {"man", "men", "Mann", "Männer", M, kPerson},
    {"woman", "women", "Frau", "Frauen", F, kWoman},
    {"child", "children", "Kind", "Kinder", N, kPerson | kChild},
    {"boy", "boys", "Junge", "Jungen", M, kPerson, "Jungen"},
    {"girl", "girls", "Mädchen", "Mädchen", N, kWoman},
    {"teacher", "teachers", "Lehrer", "Lehrer", M, kPerson | kWorker},
    {"doctor", "doctors", "Arzt", "Ärzte", M, kPerson | kWorker},
    {"farmer", "farmers", "Bauer", "Bauern", M, kPerson | kWorker, "Bauern"},
    {"baker", "bakers", "Bäcker", "Bäcker", M, kPerson | kWorker},
    {"student", "students", "Student", "Studenten", M, kPerson | kWorker, "Studenten"},
    {"police officer", "police officers", "Polizist", "Polizisten", M, kPerson | kWorker,
     "Polizisten"},
    {"cook", "cooks", "Koch", "Köche", M, kPerson | kWorker},
    {"engineer", "engineers", "Ingenieur", "Ingenieure", M, kPerson | kWorker},
    {"artist", "artists", "Künstler", "Künstler", M, kPerson | kWorker},
    {"nurse", "nurses", "Krankenschwester", "Krankenschwestern", F, kWoman | kWorker},
    {"actress", "actresses", "Schauspielerin", "Schauspielerinnen", F, kWoman | kWorker},
    {"waitress", "waitresses", "Kellnerin", "Kellnerinnen", F, kWoman | kWorker},
    {"neighbor", "neighbors", "Nachbar", "Nachbarn", M, kPerson, "Nachbarn"},
    {"guest", "guests", "Gast", "Gäste", M, kPerson},
    {"lady", "ladies", "Dame", "Damen", F, kWoman},
    {"friend", "friends", "Freund", "Freunde", M, kPerson | kRelative},
    {"mother", "mothers", "Mutter", "Mütter", F, kWoman | kRelative},
    {"father", "fathers", "Vater", "Väter", M, kPerson | kRelative},
    {"brother", "brothers", "Bruder", "Brüder", M, kPerson | kRelative},
    {"sister", "sisters", "Schwester", "Schwestern", F, kWoman | kRelative},
    {"uncle", "uncles", "Onkel", "Onkel", M, kPerson | kRelative},
    {"aunt", "aunts", "Tante", "Tanten", F, kWoman | kRelative},
    {"daughter", "daughters", "Tochter", "Töchter", F, kWoman | kRelative},
    {"son", "sons", "Sohn", "Söhne", M, kPerson | kRelative},
    // animals
    {"dog", "dogs", "Hund", "Hunde", M, kAnimal},
    {"cat", "cats", "Katze", "Katzen", F, kAnimal},
    {"horse", "horses", "Pferd", "Pferde", N, kAnimal},
    {"bird", "birds", "Vogel", "Vögel", M, kAnimal},
    {"cow", "cows", "Kuh", "Kühe", F, kAnimal},
    // food and drink
    {"apple", "apples", "Apfel", "Äpfel", M, kFood},
    {"egg", "eggs", "Ei", "Eier", N, kFood | kCookable},
    {"cake", "cakes", "Kuchen", "Kuchen", M, kFood},
    {"potato", "potatoes", "Kartoffel", "Kartoffeln", F, kFood | kCookable},
    {"soup", "soups", "Suppe", "Suppen", F, kFood | kCookable},
    {"tomato", "tomatoes", "Tomate", "Tomaten", F, kFood},
    {"pear", "pears", "Birne", "Birnen", F, kFood},
    {"bread", "", "Brot", "", N, kFood},
    {"cheese", "", "Käse", "", M, kFood},
    {"fish", "", "Fisch", "", M, kFood | kCookable},
    {"meat", "", "Fleisch", "", N, kFood | kCookable},
    {"coffee", "", "Kaffee", "", M, kDrink},
    {"tea", "", "Tee", "", M, kDrink},
    {"water", "", "Wasser", "", N, kDrink},
    {"milk", "", "Milch", "", F, kDrink},
    {"wine", "", "Wein", "", M, kDrink},
    // things
    {"book", "books", "Buch", "Bücher", N, kReading | kWritable},
    {"letter", "letters", "Brief", "Briefe", M, kReading | kWritable | kEvent},
    {"newspaper", "newspapers", "Zeitung", "Zeitungen", F, kReading},
    {"report", "reports", "Bericht", "Berichte", M, kReadable | kWritable | kFlat},
    {"poem", "poems", "Gedicht", "Gedichte", N, kReadable | kWritable},
    {"story", "stories", "Geschichte", "Geschichten", F, kReadable | kWritable | kTale},
    {"car", "cars", "Auto", "Autos", N, kMachine | kVehicle},
    {"bicycle", "bicycles", "Fahrrad", "Fahrräder", N, kMachine | kVehicle},
    {"boat", "boats", "Boot", "Boote", N, kMachine | kVehicle},
    {"computer", "computers", "Computer", "Computer", M, kMachine | kSwitchable | kUpright},
    {"radio", "radios", "Radio", "Radios", N, kMachine | kSwitchable | kPortable | kUpright},
    {"lamp", "lamps", "Lampe", "Lampen", F, kMachine | kSwitchable | kPortable | kUpright},
    {"clock", "clocks", "Uhr", "Uhren", F, kMachine | kPortable | kUpright},
    {"camera", "cameras", "Kamera", "Kameras", F, kMachine | kPortable | kFlat},
    {"door", "doors", "Tür", "Türen", F, kOpenable},
    {"window", "windows", "Fenster", "Fenster", N, kOpenable},
    {"box", "boxes", "Kiste", "Kisten", F, kOpenable | kPortable | kUpright},
    {"suitcase", "suitcases", "Koffer", "Koffer", M, kOpenable | kPortable | kUpright},
    {"bottle", "bottles", "Flasche", "Flaschen", F, kOpenable | kPortable | kUpright},
    {"coat", "coats", "Mantel", "Mäntel", M, kClothing | kPortable | kFlat},
    {"shirt", "shirts", "Hemd", "Hemden", N, kClothing | kPortable | kFlat},
    {"dress", "dresses", "Kleid", "Kleider", N, kClothing | kPortable | kFlat},
    {"jacket", "jackets", "Jacke", "Jacken", F, kClothing | kPortable | kFlat},
    {"shoe", "shoes", "Schuh", "Schuhe", M, kClothing | kPortable},
    {"key", "keys", "Schlüssel", "Schlüssel", M, kPortable | kFlat},
    {"bag", "bags", "Tasche", "Taschen", F, kPortable | kUpright},
    {"picture", "pictures", "Bild", "Bilder", N, kPortable | kFlat},
    {"flower", "flowers", "Blume", "Blumen", F, kPortable},
    {"present", "presents", "Geschenk", "Geschenke", N, kPortable | kFlat | kEvent},
    {"ball", "balls", "Ball", "Bälle", M, kPortable | kFlat},
    {"knife", "knives", "Messer", "Messer", N, kPortable | kFlat},
    {"table", "tables", "Tisch", "Tische", M, kFurniture},
    {"chair", "chairs", "Stuhl", "Stühle", M, kFurniture},
    {"bed", "beds", "Bett", "Betten", N, kFurniture},
    {"sofa", "sofas", "Sofa", "Sofas", N, kFurniture},
    {"bus", "buses", "Bus", "Busse", M, kEvent | kVehicle},
    {"train", "trains", "Zug", "Züge", M, kEvent | kVehicle},
    {"trip", "trips", "Reise", "Reisen", F, kEvent},
};

constexpr Place kPlaces[] = {
    {{"garden", "gardens", "Garten", "Gärten", M, kPlace}, "in", "in", "in"},
    {{"kitchen", "kitchens", "Küche", "Küchen", F, kPlace | kRoom}, "in", "in", "in"},
    {{"room", "rooms", "Zimmer", "Zimmer", N, kPlace | kRoom}, "in", "in", "in"},
    {{"office", "offices", "Büro", "Büros", N, kPlace | kRoom}, "in", "in", "in"},
    {{"city", "cities", "Stadt", "Städte", F, kPlace | kSights}, "in", "in", "in"},
    {{"village", "villages", "Dorf", "Dörfer", N, kPlace | kSights}, "in", "in", "in"},
    {{"house", "houses", "Haus", "Häuser", N, kPlace}, "in", "in", "in"},
    {{"park", "parks", "Park", "Parks", M, kPlace | kSights}, "in", "in", "in"},
    {{"forest", "forests", "Wald", "Wälder", M, kPlace}, "in", "in", "in"},
    {{"church", "churches", "Kirche", "Kirchen", F, kPlace | kSights}, "in", "in", "in"},
    {{"museum", "museums", "Museum", "Museen", N, kPlace | kSights}, "in", "in", "in"},
    {{"library", "libraries", "Bibliothek", "Bibliotheken", F, kPlace}, "in", "in", "in"},
    {{"hotel", "hotels", "Hotel", "Hotels", N, kPlace}, "in", "in", "in"},
    {{"restaurant", "restaurants", "Restaurant", "Restaurants", N, kPlace}, "in", "in", "in"},
    {{"school", "schools", "Schule", "Schulen", F, kPlace}, "at", "in", "in"},
    {{"market", "markets", "Markt", "Märkte", M, kPlace}, "at", "auf", "auf"},
    {{"station", "stations", "Bahnhof", "Bahnhöfe", M, kPlace}, "at", "an", "zu"},
    {{"beach", "beaches", "Strand", "Strände", M, kPlace}, "at", "an", "zu"},
    {{"bridge", "bridges", "Brücke", "Brücken", F, kPlace | kSights}, "on", "auf", "zu"},
};

constexpr Name kPeople[] = {
    {"Anna", "Anna", "Anna", true},
    {"Maria", "Maria", "Maria", true},
    {"Julia", "Julia", "Julia", true},
    {"Lisa", "Lisa", "Lisa", true},
    {"Peter", "Peter", "Peter", false},
    {"Paul", "Paul", "Paul", false},
    {"Karl", "Karl", "Karl", false},
    {"Martin", "Martin", "Martin", false},
    {"Mr. Schmidt", "Herr Schmidt", "Herrn Schmidt", false},
    {"Mr. Weber", "Herr Weber", "Herrn Weber", false},
    {"Mrs. Wagner", "Frau Wagner", "Frau Wagner", true},
    {"Mrs. Keller", "Frau Keller", "Frau Keller", true},
};

constexpr std::string_view kTowns[] = {"Berlin", "Hamburg", "Paris",  "London",
                                       "Madrid", "Bremen",  "Dresden"};

}  // namespace

std::span<const Noun> nouns() { return kNouns; }
std::span<const Place> places() { return kPlaces; }
std::span<const Name> people() { return kPeople; }
std::span<const std::string_view> towns() { return kTowns; }

}  // namespace dragoman
