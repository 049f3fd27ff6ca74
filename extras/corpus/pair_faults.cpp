#include "extras/corpus/pair_faults.h"

#include "base/error.h"

namespace dragoman {

namespace {

/// Which of the sets of cuts has a fault.
enum class CutBy { Nobody, Strict, Safe };

struct FaultText {
  std::string_view title, explanation;
  CutBy cut;
};

constexpr auto kTexts = std::to_array<FaultText>({
    {"a side is empty", "A line has nothing but white space.", CutBy::Safe},
    {"invalid UTF-8", "A line is not UTF-8, or has a NUL byte.", CutBy::Safe},
    {"characters lost",
     "A line has U+FFFD, written for a character that could not be read, or a question mark "
     "between the letters of a word.",
     CutBy::Safe},
    {"mojibake",
     "UTF-8 was read as Latin-1 or Windows-1252, which turns one letter into two or three.",
     CutBy::Safe},
    {"control characters", "A line has characters that print nothing.", CutBy::Safe},
    {"markup", "A line has tags or entities of HTML or XML.", CutBy::Strict},
    {"untranslated", "Both sides are the same text, or nearly.", CutBy::Safe},
    {"source in another language",
     "The language of the source line, by its words and letters, is not that of most lines.",
     CutBy::Safe},
    {"target in another language",
     "The language of the target line, by its words and letters, is not that of most lines.",
     CutBy::Safe},
    {"source in another script",
     "Most letters of the source line are of another script than those of most lines.",
     CutBy::Safe},
    {"target in another script",
     "Most letters of the target line are of another script than those of most lines.",
     CutBy::Safe},
    {"words of two scripts", "A word has letters of two scripts that only look alike.",
     CutBy::Strict},
    {"numbers differ",
     "A number stands on one side alone. Numbers up to 12 may be words on the other side, and "
     "hours may be counted to 12 or to 24.",
     CutBy::Strict},
    {"links differ", "The address of a page or of a mailbox is on one side only.", CutBy::Strict},
    {"odd length", "A side is far longer or shorter than the other suggests.", CutBy::Safe},
    {"nothing to translate", "Both sides have numbers, signs, links or codes, and no word.",
     CutBy::Nobody},
    {"boilerplate",
     "The line is a menu, or the same text, digits aside, stands on its side in many pairs.",
     CutBy::Strict},
    {"capitals on one side", "One side is in capitals, the other is not.", CutBy::Strict},
    {"sentences differ", "The sides have different numbers of sentences.", CutBy::Strict},
    {"several sentences", "Both sides have the same number of sentences, two or more.",
     CutBy::Nobody},
    {"copies", "An earlier pair is the same, except for case and white space.", CutBy::Safe},
    {"near copies",
     "An earlier pair is nearly the same: it has the same letters, or most groups of three.",
     CutBy::Strict},
    {"source repeated", "The source is (nearly) that of an earlier pair, but the target is not.",
     CutBy::Nobody},
    {"target repeated", "The target is (nearly) that of an earlier pair, but the source is not.",
     CutBy::Nobody},
    {"leaks", "The validation or test text has the pair, or a long side of it, exactly or nearly.",
     CutBy::Safe},
    {"shifted",
     "The line belongs to a stretch whose targets fit sources some lines before or "
     "after.",
     CutBy::Safe},
    {"not a translation",
     "The words of the sides do not translate each other, as far as the whole text tells.",
     CutBy::Safe},
});
static_assert(kTexts.size() == kPairFaults);

std::vector<std::string> cuts_from(CutBy least) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kPairFaults; ++i)
    if (kTexts[i].cut >= least) names.emplace_back(names_of(PairFault())[i]);
  return names;
}

}  // namespace

std::string_view title_of(PairFault fault) { return kTexts[static_cast<std::size_t>(fault)].title; }

std::string_view explanation_of(PairFault fault) {
  return kTexts[static_cast<std::size_t>(fault)].explanation;
}

std::vector<std::string> safe_cuts() { return cuts_from(CutBy::Safe); }
std::vector<std::string> strict_cuts() { return cuts_from(CutBy::Strict); }

void CorpusFilters::check() const {
  faults_to_cut();
  if (!(max_length_deviation > 0)) throw UsageError("max-length-deviation: must be positive");
  if (!(max_length_factor >= 1)) throw UsageError("max-length-factor: must be at least 1");
  if (max_characters < 1) throw UsageError("max-characters: must be at least 1");
  if (language_letters < 1) throw UsageError("language-letters: must be at least 1");
  if (!(near_copy > 0.5 && near_copy <= 1))
    throw UsageError("near-copy: must be above 0.5 and at most 1");
  if (boilerplate_copies < 2) throw UsageError("boilerplate-copies: must be at least 2");
  if (shifted_lines < 5) throw UsageError("shifted-lines: must be at least 5");
}

FaultSet CorpusFilters::faults_to_cut() const {
  FaultSet faults;
  for (const std::string& name : cut) {
    const auto fault = value_named<PairFault>(name);
    if (!fault) {
      constexpr auto kNames = names_of(PairFault());
      const std::string near =
          nearest_name(name, std::vector<std::string>(kNames.begin(), kNames.end()));
      throw UsageError("cut: there is no fault ", name,
                       near.empty() ? std::string() : "; did you mean " + near + "?");
    }
    faults.add(*fault);
  }
  return faults;
}

}  // namespace dragoman
