#include "tokenizer/abbreviations.h"

#include <span>
#include <sstream>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/utf8.h"

namespace dragoman {

namespace {

// English, then German, French, Spanish, Italian, Portuguese, Dutch, Czech, Polish, Russian and
// Scandinavian. A word in small letters may have a capital at its start. An abbreviation that is
// also an ordinary word of one of the languages, and so may end a sentence, stands in no list, or
// in one that allows the end.
constexpr std::string_view kInside[] = {
    "Mr Mrs Ms Messrs Mx Dr Drs Prof Profs Rev Fr Hon Lt Col Capt Cpt Sgt Maj Cmdr Adm Brig Sen "
    "Rep Gov Pres Supt Mt Ste Wm vs cf viz approx esp incl excl e.g i.e eg ie",
    "Hr Hrn Frl Dipl Ing Mag Priv Doz Hl bzw vgl z.b z.t z.zt d.h i.d.r i.d.f s.o s.u u.u o.ä u.ä "
    "m.e z.hd m.w inkl exkl einschl evtl ggf gegr geb gest verh sog bzgl insb insbes allg zzgl "
    "abzgl urspr ehem entspr vorm v.a",
    "MM Mme Mmes Mlle Mlles Mgr p.ex c.-à-d éd",
    "Sr Sra Dra Dras Srta Sres Sras Dña Lic Gral Excmo Excma p.ej",
    "sig sigg sig.ra sig.na dott dott.ssa prof.ssa Avv Geom Egr Spett p.es",
    "Exmo Exma Profa Profª Sr.ª Eng Arq V.Exa",
    "dhr mevr mw drs mr d.w.z d.m.v o.l.v m.b.v t.a.v bijv o.a m.n resp",
    "MUDr JUDr PhDr RNDr MVDr PaedDr ThDr prof např tj tzv tzn zn popř příp angl něm franc",
    "np tzn tzw m.in dr mgr inż ks abp płk św zob tel",
    "т.е т.к т.н напр проф акад доц инж св тов гр ул просп обл г-н г-жа ср",
    "dvs t.ex bl.a f.eks bl.m s.k tlf"};

constexpr std::string_view kBeforeNumber[] = {
    "no nos nr nrs num núm núms nº ch chap sec sect art arts fig figs vol vols pp pg par para eq "
    "op ver cl col ln ed tab app",
    "abb abs kap bd bde ziff zif aufl rn rdnr rz tel jg anm",
    "pág págs pag pagg cap caps tít inc fasc tav nn lib",
    "blz hfdst afb jrg",
    "čís str obr odst roč ročn rys ust poz pkt godz lp rozdz kl",
    "стр рис табл гл ст пп разд илл",
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Okt Nov Dec Dez Mon Tue Tues Wed Thu Thur Thurs Fri "
    "Sat Sun"};

constexpr std::string_view kAnywhere[] = {
    "etc al Inc Ltd Co Corp Bros Jr St Ave Blvd Rd dept univ Assn Pty Plc LLC Esq Mfg Gen Univ "
    "Arch a.m p.m u.s u.k u.n Ph.D B.C A.D Est ca cca circa min avg misc temp ext hr hrs wk yr yrs "
    "oz lb lbs ft sq pt pts Calif Fla Ill Mass Mich Minn Penn Tex Va Wash Conn Ariz Colo",
    "usw uvm usf dgl u.a u.v.m o.g v.chr n.chr e.v str Pl std sek mio mrd tsd stck stk Jh Jhd Jhdt "
    "jun sen jr zit dt engl frz griech ital amerik österr schweiz kath röm med jur phil rer nat "
    "phys techn wiss abt Bhf Hbf Ges mbH Vors Präs hrsg Mitgl Verf Übers s.a",
    "av boul bd env hab apr J.-C tél Cie Sté Ets ibid",
    "ud uds vd vds ee.uu aprox avda cía dpto prov hnos admón a.c d.c s.a s.l Mons",
    "ecc c.a S.p.A S.r.l s.p.a s.r.l seg",
    "ltda cia depto",
    "enz e.d e.a jl gld a.u.b n.v b.v",
    "atd apod aj tis mld sv nám tř stol hod přibl doc Bc",
    "itd itp zł tys mln al pl r.p p.n.e n.e pn hab wyd",
    "и.о т.д т.п др пр руб коп тыс млн млрд кв корп гг вв н.э р-н им ген см",
    "osv m.m m.fl kr jfr"};

constexpr std::string_view kBeginners[] = {
    "the a an this that these those there here he she it they we you i his her its their our my "
    "your and but or so yet if when while although though because since as after before during "
    "once until however therefore moreover meanwhile furthermore nevertheless instead also then "
    "now still in on at by for from with without to of under over through between among what who "
    "which where why how many most some several all both each every no not only one two another "
    "other such does did is are was were have has had can could would should may let please yes "
    "today yesterday later finally perhaps maybe despite according",
    "der die das den dem des ein eine einer eines einem einen er sie es wir ich ihr ihre sein "
    "seine mein meine unser unsere dies diese dieser dieses jede jeder jedes man wer was wie wo "
    "wann warum und aber oder doch denn wenn als nachdem bevor obwohl weil da dann danach dort "
    "hier heute gestern jetzt auch nur noch schon so im am auf aus bei mit nach von vor zu zum zur "
    "für über unter durch gegen ohne um während wegen seit trotz zwei viele einige alle beide "
    "mehrere kein keine nicht allerdings jedoch deshalb daher außerdem trotzdem schließlich zudem "
    "dabei damit dafür",
    "le la les un une des il elle ils elles nous vous je tu on ce cet cette ces mon ma mes son sa "
    "ses leur leurs notre votre et mais ou donc car si quand lorsque comme après avant pendant "
    "depuis dans sur sous avec sans pour par chez entre vers de du au aux à qui que quoi où "
    "comment pourquoi deux plusieurs certains tous toutes chaque aucun puis ensuite alors ainsi "
    "cependant toutefois enfin aussi selon malgré c' j' l' n' s' qu'",
    "el los las una unos unas él ella ellos ellas yo nosotros usted ustedes su sus mi mis este "
    "esta estos estas ese esa eso esto y pero o si cuando mientras aunque porque como después "
    "antes durante desde en con sin para por hacia sobre entre del al qué quién cuándo dónde cómo "
    "muchos algunos todos cada también además entonces luego ahora hoy ayer según no hay",
    "il lo gli i uno egli lei lui loro noi voi io questo questa questi queste quello quella suo "
    "sua e ma se quando mentre anche perché dopo prima durante nel nella nei nelle dal dalla della "
    "degli con senza per tra fra su che chi dove molti alcuni tutti ogni poi quindi però infatti "
    "inoltre oggi ieri non",
    "o os as um uma uns umas ele ela eles elas eu nós você vocês seu sua este esta esse essa isso "
    "isto mas quando enquanto embora depois antes durante desde em no na nos nas do da dos das com "
    "sem para por quem onde muitos alguns todos cada também além então agora hoje ontem segundo "
    "não",
    "het een hij zij ze wij we jij u ik zijn haar hun ons onze mijn deze dit dat die en maar of "
    "want als toen terwijl hoewel omdat na voor tijdens sinds op met zonder naar van uit bij door "
    "over tussen wat wie waar wanneer waarom hoe veel enkele alle elke ook dan daarna daar hier nu "
    "vandaag gisteren volgens niet er",
    "ten ta to ti ty on ona oni my vy wy ja já v ve w we na po při przy za od do z ze s se u o pro "
    "dla a ale i nebo lub když kdy gdy jeśli pokud protože ponieważ jak jako než bo więc jednak "
    "však také także też tak tam tu teraz nyní dziś dnes tento tato toto ten te ta byl byla było "
    "był jest je jsou są nie ne který która które jego jej ich její jejich jeho oraz",
    "он она оно они мы вы я ты это этот эта эти тот та те его её их мой наш ваш в во на по при за "
    "от до из с со у о об для и а но или когда если хотя потому как так что кто где почему после "
    "перед во время между без через все всё каждый многие некоторые также тогда затем теперь "
    "сейчас сегодня однако поэтому не нет там здесь уже ещё",
    "det den de en et han hon hun vi jag jeg du och og när når efter etter under för på i av med "
    "til till som hvis om där der här her"};

constexpr std::string_view kBeforeOrdinal[] = {
    "am im vom zum zur beim ins ans der die das dem den des jeder jede jedes jeden jedem dieser "
    "diese dieses diesen diesem an als mein meine meinem meinen meiner meines dein deine deinem "
    "deinen deiner sein seine seinem seinen seiner seines ihr ihre ihrem ihren ihrer ihres unser "
    "unsere unserem unseren unserer euer ab ende anfang mitte montag dienstag mittwoch donnerstag "
    "freitag samstag sonnabend sonntag"};

constexpr std::string_view kMonths[] = {
    "january february march april may june july september october december",
    "januar jänner februar feber märz april mai juni juli august september oktober november "
    "dezember",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada "
    "grudnia",
    "januari februari mars maj marts maart april juni juli august augusti october oktober december "
    "desember tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta "
    "elokuuta syyskuuta lokakuuta marraskuuta joulukuuta"};

using WordLists = std::span<const std::string_view>;

template <class Visit>
void for_each_word(WordLists lists, Visit&& visit) {
  for (const std::string_view list : lists) {
    std::istringstream words{std::string(list)};
    for (std::string word; words >> word;) visit(std::move(word));
  }
}

std::unordered_set<std::string> set_of(WordLists lists) {
  std::unordered_set<std::string> words;
  for_each_word(lists, [&](std::string word) { words.insert(std::move(word)); });
  return words;
}

/// All words of the lists. If a word is in two lists, the later one counts.
std::unordered_map<std::string, Abbreviation> all_abbreviations(LetterCase letter_case) {
  std::unordered_map<std::string, Abbreviation> all;
  const auto add = [&](WordLists lists, Abbreviation kind) {
    for_each_word(lists, [&](const std::string& word) {
      all[letter_case == LetterCase::Lost ? lower_case(word) : word] = kind;
    });
  };
  add(kAnywhere, Abbreviation::Anywhere);
  add(kBeforeNumber, Abbreviation::BeforeNumber);
  add(kInside, Abbreviation::Inside);
  return all;
}

}  // namespace

Abbreviation abbreviation(std::string_view word, LetterCase letter_case) {
  static const auto kept = all_abbreviations(LetterCase::Kept);
  static const auto lost = all_abbreviations(LetterCase::Lost);
  const auto kind_in = [](const auto& all, const std::string& spelling) {
    const auto found = all.find(spelling);
    return found == all.end() ? Abbreviation::None : found->second;
  };
  if (letter_case == LetterCase::Lost) return kind_in(lost, lower_case(word));
  const Abbreviation kind = kind_in(kept, std::string(word));
  if (kind != Abbreviation::None || word.empty()) return kind;
  std::size_t first = 0;
  next_code_point(word, first);
  const std::size_t small = word.find('.') == word.npos ? first : word.size();
  return kind_in(kept, lower_case(word.substr(0, small)).append(word.substr(small)));
}

bool often_begins_sentence(std::string_view word) {
  static const auto words = set_of(kBeginners);
  return words.contains(lower_case(word));
}

bool comes_before_ordinal(std::string_view word) {
  static const auto words = set_of(kBeforeOrdinal);
  return words.contains(lower_case(word));
}

bool is_month(std::string_view word) {
  static const auto words = set_of(kMonths);
  return words.contains(lower_case(word));
}

}  // namespace dragoman
