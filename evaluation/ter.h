// Translation edit rate (Snover et al. 2006), equal to sacreBLEU 2's, which follows Tercom: the
// fewest insertions, deletions, substitutions and shifts of word sequences that a greedy search
// finds, over the mean length of the references.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "evaluation/line_statistics.h"

namespace dragoman {

struct TerConfig {
  bool normalized = false;      ///< punctuation becomes words of its own, as Tercom does it
  bool no_punct = false;        ///< leave out punctuation
  bool asian_support = false;   ///< the two above know Chinese and Japanese characters
  bool case_sensitive = false;  ///< false: the text is lower-cased
};

/// The line in the form that TER counts: words between single spaces. `line` must be valid UTF-8.
std::string tokenize_for_ter(std::string_view line, const TerConfig& config);

/// The number of edits that turn the hypothesis into the reference. Words are numbers.
std::int64_t translation_edits(std::span<const std::uint32_t> hypothesis,
                               std::span<const std::uint32_t> reference);

/// Rows of [edits, mean length of the references]. With several references the edits are those of
/// the one with the fewest. Invalid UTF-8 counts as U+FFFD. Errors: as count_lines().
LineStatistics ter_statistics(std::span<const std::string> hypotheses, const References& references,
                              const TerConfig& config);

/// TER in percent, from 0 (the best) upwards, from a sum of rows of ter_statistics. For a sum in
/// float it is rounded as sacreBLEU rounds the scores of resampled corpora.
template <class Real>
Real ter_of_statistics(std::span<const Real> sum);

/// sacreBLEU's signature: "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:VERSION".
std::string ter_signature(const TerConfig& config, std::string_view references,
                          std::string_view version);

}  // namespace dragoman
