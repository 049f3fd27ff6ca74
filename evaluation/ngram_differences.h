// The n-grams by which systems differ most: what one finds of the reference and another does not,
// and what one writes that the reference lacks (MT-ComparEval, Klejch et al. 2015; compare-mt,
// Neubig et al. 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/bleu.h"

namespace dragoman {

/// An n-gram and how often it occurs, summed over the lines.
struct NgramOccurrences {
  std::string text;  ///< tokens with a space between
  int order = 1;
  std::int64_t in_reference = 0;          ///< in the reference of a line that has it most often
  std::vector<std::int64_t> found;        ///< [system], clipped matches, as BLEU counts them
  std::vector<std::int64_t> superfluous;  ///< [system], what was written beyond those
};

/// For each pair of systems, each order up to 4 and each side the `most` n-grams by which one has
/// found more than the other, and likewise has written more superfluous ones. Of one system alone
/// those that it lacks most often and those that it has superfluously. By order, then by text.
std::vector<NgramOccurrences> differing_ngrams(
    const std::vector<std::vector<std::string>>& hypotheses, const References& references,
    const BleuConfig& config, std::size_t most);

}  // namespace dragoman
