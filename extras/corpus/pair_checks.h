// The checks that look at one pair, and what is usual in a text, by which they judge.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "data/parallel_text.h"
#include "extras/corpus/line_facts.h"
#include "extras/corpus/pair_faults.h"

namespace dragoman {

/// What is usual in a text, from a sample of its pairs. The sides are source and target.
struct UsualPair {
  std::array<std::string, 2> languages;  ///< codes of ISO 639; "": not known
  std::array<Script, 2> scripts{};       ///< 0: not known
  double length_ratio = 1;               ///< target characters / source characters, the median
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
