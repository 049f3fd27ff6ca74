// The n-grams in which systems differ most: n-grams of the reference that one system finds and
// another does not, and n-grams that a system writes and the reference lacks (MT-ComparEval, Klejch
// et al. 2015; compare-mt, Neubig et al. 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/bleu.h"

namespace dragoman {

/// An n-gram and how often it occurs, summed over the lines.
struct NgramOccurrences {
  std::string text;  ///< tokens with spaces between them
  int order = 1;
  std::int64_t in_reference = 0;          ///< in the reference of a line that has it most often
  std::vector<std::int64_t> found;        ///< [system], clipped matches, as BLEU counts them
  std::vector<std::int64_t> superfluous;  ///< [system], occurrences that match no reference
};

/// The n-grams in which two systems differ most, up to order 4. For each pair of systems, each
/// order and each side there are `most` n-grams that the one system has found more often than the
/// other, and `most` that it has superfluously more often. For one system alone there are those
/// that it lacks most often, and those that it has superfluously. Sorted by order, then by text.
std::vector<NgramOccurrences> differing_ngrams(
    const std::vector<std::vector<std::string>>& hypotheses, const References& references,
    const BleuConfig& config, std::size_t most);

}  // namespace dragoman
