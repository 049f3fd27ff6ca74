// What can be wrong with a pair of a parallel text, and the limits by which it is judged.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"

namespace dragoman {

/// A pair may have several faults. A fault of one side has a name for each side.
enum class PairFault : std::uint8_t {
  Empty,
  Invalid,
  ReplacedCharacters,
  Mojibake,
  ControlCharacters,
  Markup,
  Untranslated,
  OtherLanguageSource,
  OtherLanguageTarget,
  OtherScriptSource,
  OtherScriptTarget,
  MixedScripts,
  Numbers,
  Links,
  Length,
  NothingToTranslate,
  Boilerplate,
  Casing,
  SentenceCount,
  SeveralSentences,
  Copy,
  NearCopy,
  RepeatedSource,
  RepeatedTarget,
  Leak,
  Shifted,
  Misaligned,
};
/// The names in JSON and in a file of filters.
constexpr std::array<std::string_view, 27> names_of(PairFault) {
  return {"empty",
          "invalid",
          "replaced-characters",
          "mojibake",
          "control-characters",
          "markup",
          "untranslated",
          "source-language",
          "target-language",
          "source-script",
          "target-script",
          "mixed-scripts",
          "numbers",
          "links",
          "length",
          "nothing-to-translate",
          "boilerplate",
          "casing",
          "sentence-count",
          "several-sentences",
          "copy",
          "near-copy",
          "repeated-source",
          "repeated-target",
          "leak",
          "shifted",
          "misaligned"};
}
inline constexpr std::size_t kPairFaults = names_of(PairFault()).size();

/// In a line, for people: "numbers differ".
std::string_view title_of(PairFault fault);
/// A sentence that says when a pair has the fault.
std::string_view explanation_of(PairFault fault);

/// The faults of a pair, a bit for each.
class FaultSet {
 public:
  constexpr FaultSet() = default;

  constexpr void add(PairFault fault) { bits_ |= bit_of(fault); }
  constexpr void add_if(bool has, PairFault fault) { bits_ |= has ? bit_of(fault) : 0; }
  constexpr bool has(PairFault fault) const { return (bits_ & bit_of(fault)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr FaultSet operator&(FaultSet other) const { return FaultSet(bits_ & other.bits_); }
  bool operator==(const FaultSet&) const = default;

 private:
  explicit constexpr FaultSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit_of(PairFault fault) {
    return std::uint32_t{1} << static_cast<unsigned>(fault);
  }

  std::uint32_t bits_ = 0;
};

/// The limits of the checks, and the faults whose pairs are cut: the content of a file of filters.
struct CorpusFilters {
  std::vector<std::string> cut = {};  ///< names of faults
  double max_length_deviation = 5;
  double max_length_factor = 1.8;
  std::int64_t max_characters = 5000;
  std::int64_t language_letters = 20;
  double near_copy = 0.75;
  std::int64_t boilerplate_copies = 20;
  std::int64_t shifted_lines = 10;
  double min_evidence = 0;

  /// Throws UsageError that begins with the key.
  void check() const;
  FaultSet faults_to_cut() const;

  void for_each_field(const auto& visit) {
    const auto field = fields_under("Filters", visit);
    field("cut", cut, "faults whose pairs are cut; a pair is cut for the first fault that it has");
    field("max-length-deviation", max_length_deviation,
          "length: how far a length may be from the expected one, in standard deviations");
    field("max-length-factor", max_length_factor,
          "length: by which factor the ratio of the lengths may also differ from the usual one");
    field("max-characters", max_characters, "length: the most characters of a line");
    field("language-letters", language_letters,
          "source-language, target-language: lines with fewer letters are not judged");
    field("near-copy", near_copy,
          "near-copy, leak: the fraction of the groups of three letters that nearly equal lines "
          "share, of all groups that they have");
    field("boilerplate-copies", boilerplate_copies,
          "boilerplate: how many pairs have the same text on a side, digits aside");
    field("shifted-lines", shifted_lines, "shifted: the fewest lines of a stretch");
    field("min-evidence", min_evidence,
          "misaligned: how much more probable the words of a side must be beside the other side "
          "than alone, as the natural logarithm per word");
  }
};

/// The faults that hardly any useful pair has.
std::vector<std::string> safe_cuts();
/// Those, and faults that many useful pairs have, too.
std::vector<std::string> strict_cuts();

}  // namespace dragoman
