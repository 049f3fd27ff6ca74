// Where systems differ: their scores by the length of lines, the words that they find by frequency,
// and the n-grams in which they differ most (MT-ComparEval, Klejch et al. 2015; compare-mt, Neubig
// et al. 2019).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluation/bleu.h"
#include "evaluation/bleu_tokenizer.h"
#include "evaluation/significance.h"

namespace dragoman {

/// The scores of a group of lines.
struct LineGroup {
  std::string name;        ///< "11–20"
  std::int64_t words = 0;  ///< least number of words of a line
  std::int64_t lines = 0;
  std::vector<std::vector<double>> scores;  ///< [metric][system]
};

/// Groups lines by the number of words in each line of `texts` (source or reference). Groups
/// without lines are left out.
std::vector<LineGroup> scores_by_length(const std::vector<SystemCounts>& counts,
                                        const std::vector<std::string>& texts);

/// A group of words of similar frequency, and how well the systems find them.
struct WordGroup {
  std::string name;        ///< "10–99"
  std::int64_t words = 0;  ///< of the reference
  std::vector<double> f1;  ///< [system], in percent, of matches that are clipped line by line
};

/// Groups words by their frequency in `reference`. Words are the tokens of `tokenization`,
/// lower-cased.
std::vector<WordGroup> words_by_frequency(const std::vector<std::vector<std::string>>& systems,
                                          const std::vector<std::string>& reference,
                                          const Tokenization& tokenization);

/// An n-gram and how often it occurs, summed over the lines.
struct NgramOccurrences {
  std::string text;  ///< tokens with spaces between them
  int order = 1;
  std::int64_t in_reference = 0;         ///< in the reference of a line that has it most often
  std::vector<std::int64_t> found = {};  ///< [system], clipped matches, as BLEU counts them
  std::vector<std::int64_t> superfluous = {};  ///< [system], occurrences that match no reference
};

/// The n-grams in which two systems differ most, up to order 4. For each pair of systems, each
/// order and each side there are `most` n-grams of the reference that the one system finds more
/// often than the other, and `most` that it writes more often than the other although the reference
/// lacks them. For one system alone there are those that it misses most often, and those that the
/// reference lacks. Sorted by order, then by text.
std::vector<NgramOccurrences> differing_ngrams(
    const std::vector<std::vector<std::string>>& hypotheses, const References& references,
    const BleuConfig& config, std::size_t most);

}  // namespace dragoman
