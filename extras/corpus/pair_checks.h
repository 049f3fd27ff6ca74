// The checks that look at one pair, and what is usual in a text, by which they judge.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/alignment/words.h"
#include "data/parallel_text.h"
#include "extras/corpus/line_facts.h"
#include "extras/corpus/pair_faults.h"

namespace dragoman {

/// The words of a side, and whether they stand in lines of its language. CLD2 takes some short
/// lines for those of a related language; their words tell.
class KnownWords {
 public:
  void add(std::string_view line, bool is_in_usual_language);
  /// Whether most words of the line are known from several lines of the usual language.
  bool has_most(std::string_view line) const;

 private:
  WordNumbers words_;
  std::vector<std::int32_t> lines_{0};  ///< [words] of the usual language, less those of others
};

/// What is usual in a text, from a sample of its pairs. The sides are source and target.
struct UsualPair {
  std::array<std::string, 2> languages;                      ///< codes of ISO 639; "": not known
  std::array<Script, 2> scripts{};                           ///< 0: not known
  std::array<std::shared_ptr<const KnownWords>, 2> words{};  ///< null: the language is not known
  double length_ratio = 1;  ///< target characters / source characters, the median
  /// The standard deviation of length_deviation(), from the median of its absolute values.
  double length_spread = 1;
};

/// How far a target is from the length expected for its source, (t - r s) / sqrt((t + r s) / 2) for
/// the usual ratio r. Its variance does not depend on the lengths (Gale and Church 1993).
double length_deviation(std::int64_t source, std::int64_t target, double ratio);

/// Looks at 4,000 pairs, evenly spaced. `languages` has those that are known, else "".
UsualPair usual_pair(const ParallelText& text, const std::array<std::string, 2>& languages);

/// The faults of a pair that show in its two lines. Both must be valid UTF-8.
FaultSet faults_in_lines(std::string_view source, std::string_view target, const UsualPair& usual,
                         const CorpusFilters& filters);

}  // namespace dragoman
